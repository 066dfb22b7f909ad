import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import Fastify, { type FastifyInstance } from 'fastify';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { addPanelFiles } from '../../src/http/routes/panel/panel-files.ts';

const folder = mkdtempSync(join(tmpdir(), 'trueward-panel-'));
const script = 'console.log("panel");'.repeat(50);
let app: FastifyInstance;
beforeAll(() => {
  mkdirSync(join(folder, 'panel', 'assets'), { recursive: true });
  writeFileSync(join(folder, 'secret.html'), 'not of the panel');
  writeFileSync(join(folder, 'panel', 'index.html'), '<title>Panel</title>');
  writeFileSync(join(folder, 'panel', 'preview.html'), '<title>Preview</title>');
  writeFileSync(join(folder, 'panel', 'notes.txt'), 'of no known type');
  writeFileSync(join(folder, 'panel', 'assets', 'index-1a2b.js'), script);
  app = Fastify();
  addPanelFiles(app, join(folder, 'panel'));
});
afterAll(() => {
  rmSync(folder, { recursive: true });
  return app.close();
});

const get = (path: string, headers = {}) => app.inject({ url: path, headers });

test('the page runs scripts of ours only, and nobody frames it', async () => {
  const { headers, body } = await get('/panel/');
  expect(body).toBe('<title>Panel</title>');
  expect(headers).toMatchObject({
    'content-type': 'text/html; charset=utf-8',
    'cache-control': 'no-cache',
    'x-content-type-options': 'nosniff',
    'referrer-policy': 'no-referrer',
  });
  const policy = String(headers['content-security-policy']);
  expect(policy).toContain("default-src 'none'; script-src 'self';");
  expect(policy).toContain("frame-ancestors 'none'");
  expect(policy).toContain("base-uri 'none'");
});

test('the preview, which runs creatives, has no origin', async () => {
  const { headers } = await get('/panel/preview.html');
  const policy = String(headers['content-security-policy']);
  expect(policy).toMatch(/^sandbox allow-scripts;/);
  expect(policy).not.toContain('allow-same-origin');
  expect(policy).toContain("frame-ancestors 'self'");
});

test('what has a hash in its name is kept for good, and small on the way', async () => {
  const plain = await get('/panel/assets/index-1a2b.js');
  expect(plain.body).toBe(script);
  expect(plain.headers['cache-control']).toBe('public, max-age=31536000, immutable');
  const small = await get('/panel/assets/index-1a2b.js', { 'accept-encoding': 'br, gzip' });
  expect(small.headers).toMatchObject({ 'content-encoding': 'gzip', vary: 'accept-encoding' });
  expect(gunzipSync(small.rawPayload).toString()).toBe(script);
  expect(small.rawPayload.length).toBeLessThan(script.length / 2);
});

test('a page that the browser has is not sent again', async () => {
  const { headers } = await get('/panel/');
  const again = await get('/panel/', { 'if-none-match': headers.etag });
  expect([again.statusCode, again.body]).toEqual([304, '']);
});

test('a path that names no file is the page; nothing but the files of the panel is read', async () => {
  expect((await get('/panel')).headers['location']).toBe('/panel/');
  expect((await get('/panel/placements')).body).toBe('<title>Panel</title>');
  for (const path of [
    '/panel/api/nothing',
    '/panel/missing.js',
    '/panel/notes.txt',
    '/panel/../secret.html',
    '/panel/%2e%2e/secret.html',
    '/panel/..%2fsecret.html',
    '/panel/assets/..%2f..%2fsecret.html',
  ])
    expect([path, (await get(path)).body.includes('not of the panel')]).toEqual([path, false]);
});
