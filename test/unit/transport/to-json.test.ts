import { afterEach, expect, test } from 'vitest';
import { toJson } from '../../../src/transport/service-client.ts';

const polluted = [Array.prototype, Object.prototype, Date.prototype] as { toJSON?: unknown }[];
const dateToJson = Date.prototype.toJSON;
afterEach(() => {
  for (const prototype of polluted) delete prototype.toJSON;
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

test('serializes like JSON.stringify()', () => {
  expect(toJson(value)).toBe(JSON.stringify(value));
});

test('ignores a toJSON() that a library added to arrays and objects', () => {
  const expected = JSON.stringify(value);
  for (const prototype of polluted)
    Object.defineProperty(prototype, 'toJSON', {
      value: () => 'polluted',
      configurable: true,
    });
  expect(JSON.stringify([1])).toBe('"polluted"');
  expect(toJson(value)).toBe(expected);
});
