import { afterEach, expect, test } from 'vitest';
import { toJson } from '../../../src/platform/json.ts';

const spoiled = [Array.prototype, Object.prototype, Date.prototype] as { toJSON?: unknown }[];
const dateToJson = Date.prototype.toJSON;
afterEach(() => {
  for (const prototype of spoiled) delete prototype.toJSON;
  Object.defineProperty(Date.prototype, 'toJSON', {
    value: dateToJson,
    writable: true,
    configurable: true,
  });
});

const value = {
  text: 'a "quoted" line\n\u2028 \ud83d\ude00',
  number: 1.5,
  not: Number.NaN,
  yes: true,
  nothing: null,
  missing: undefined,
  list: [1, undefined, 'two', [3]],
  inner: { a: {}, b: [] },
};

test('writes what JSON.stringify() writes', () => {
  expect(toJson(value)).toBe(JSON.stringify(value));
});

test('writes the same on a page whose library gives arrays and objects a toJSON()', () => {
  const expected = JSON.stringify(value);
  for (const prototype of spoiled)
    Object.defineProperty(prototype, 'toJSON', {
      value: () => 'spoiled',
      configurable: true,
    });
  expect(JSON.stringify([1])).toBe('"spoiled"');
  expect(toJson(value)).toBe(expected);
});
