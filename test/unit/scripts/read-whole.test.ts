import { expect, test } from 'vitest';
import { readWhole } from '../../../scripts/lib/read-whole.mjs';

const read = (text: string | undefined) =>
  readWhole('TRUEWARD_COUNT', 3, { most: 9, env: { TRUEWARD_COUNT: text } });

test.each([
  [undefined, 3],
  ['', 3],
  ['1', 1],
  ['9', 9],
])('a setting of %o is %i', (text, value) => expect(read(text)).toBe(value));

test.each(['0', '10', '-1', '1.5', 'many', 'NaN', '1 s'])('a setting of “%s” is refused', (text) =>
  expect(() => read(text)).toThrow(
    `TRUEWARD_COUNT is ${text}, but must be a whole number from 1 to 9.`,
  ),
);
