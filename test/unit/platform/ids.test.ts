import { beforeEach, expect, test, vi } from 'vitest';

beforeEach(() => vi.resetModules());

const throwingCrypto = { getRandomValues: () => expect.unreachable() };

test.each([
  ['available', crypto],
  ['missing', undefined],
  ['blocked', throwingCrypto],
])('ids are unique when cryptographic random numbers are %s', async (_, cryptoApi) => {
  vi.stubGlobal('crypto', cryptoApi);
  const { newRandomId } = await import('../../../src/platform/ids.ts');
  const [first, second] = [newRandomId(), newRandomId()];
  expect(first).toMatch(/^[0-9]{3,30}-1$/);
  expect(second).toBe(first.replace(/1$/, '2'));
  vi.resetModules();
  const another = await import('../../../src/platform/ids.ts');
  expect(another.newRandomId()).not.toBe(first);
});
