import { afterAll, beforeAll, expect, test } from 'vitest';
import { type InProcessService, startInProcess } from '../in-process.ts';

let service: InProcessService;
beforeAll(async () => {
  service = await startInProcess();
});
afterAll(() => service.stop());

test('the root redirects to the panel', async () => {
  const response = await fetch(service.url, { redirect: 'manual' });
  expect([response.status, response.headers.get('location')]).toEqual([302, '/panel/']);
});

test.each([
  '/',
  '/healthz',
  '/readyz',
  '/panel/',
  '/docs',
  '/openapi.json',
  '/.well-known/jwks.json',
])('HEAD %s returns the same response as GET, but without a body', async (path) => {
  const [head, get] = await Promise.all(
    ['HEAD', 'GET'].map((method) => fetch(service.url + path, { method, redirect: 'manual' })),
  );
  expect(head?.status).toBe(get?.status);
  expect(head?.headers.get('content-type')).toBe(get?.headers.get('content-type'));
  expect(await head?.text()).toBe('');
});

test('HEAD requires the same key as GET', async () => {
  const head = (path: string, key?: string) =>
    fetch(service.url + path, {
      method: 'HEAD',
      headers: key === undefined ? {} : { authorization: `Bearer ${key}` },
    });
  const { secret } = service.keys.sandbox;
  expect((await head('/v1/placements')).status).toBe(401);
  expect((await head('/v1/placements', secret)).status).toBe(200);
});
