import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { brotliCompressSync, brotliDecompressSync, gunzipSync, gzipSync } from 'node:zlib';
import Fastify, { type FastifyInstance } from 'fastify';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { addPanelFiles } from '../../src/http/files.ts';

const folder = mkdtempSync(join(tmpdir(), 'trueward-panel-'));
const script = 'console.log("panel");'.repeat(50);
let app: FastifyInstance;
beforeAll(async () => {
  mkdirSync(join(folder, 'panel', 'assets'), { recursive: true });
  writeFileSync(join(folder, 'secret.html'), 'not part of the panel');
  writeFileSync(join(folder, 'panel', 'index.html'), '<title>Panel</title>');
  writeFileSync(join(folder, 'panel', 'preview.html'), '<title>Preview</title>');
  writeFileSync(join(folder, 'panel', '.env'), 'not part of the panel');
  const asset = join(folder, 'panel', 'assets', 'index-1a2b.js');
  writeFileSync(asset, script);
  writeFileSync(`${asset}.gz`, gzipSync(script));
  writeFileSync(`${asset}.br`, brotliCompressSync(script));
  app = Fastify();
  await addPanelFiles(app, join(folder, 'panel'));
});
afterAll(() => {
  rmSync(folder, { recursive: true });
  return app.close();
});

const get = (path: string, headers = {}) => app.inject({ url: path, headers });

test('the page runs only its own scripts and cannot be framed', async () => {
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

test('the preview page for creatives has an opaque origin', async () => {
  const { headers } = await get('/panel/preview.html');
  const policy = String(headers['content-security-policy']);
  expect(policy).toMatch(/^sandbox allow-scripts;/);
  expect(policy).not.toContain('allow-same-origin');
  expect(policy).toContain("frame-ancestors 'self'");
});

test('a hashed asset is compressed and cached as immutable', async () => {
  const plainResponse = await get('/panel/assets/index-1a2b.js');
  expect(plainResponse.body).toBe(script);
  expect(plainResponse.headers).toMatchObject({
    'cache-control': 'public, max-age=31536000, immutable',
    'content-type': 'application/javascript; charset=utf-8',
    'x-content-type-options': 'nosniff',
    'access-control-allow-origin': '*',
    vary: 'accept-encoding',
  });
  for (const [accepted, encoding, decompress] of [
    ['gzip', 'gzip', gunzipSync],
    ['gzip, deflate, br', 'br', brotliDecompressSync],
  ] as const) {
    const compressedResponse = await get('/panel/assets/index-1a2b.js', {
      'accept-encoding': accepted,
    });
    expect(compressedResponse.headers).toMatchObject({
      'content-encoding': encoding,
      'content-type': 'application/javascript; charset=utf-8',
      'cache-control': 'public, max-age=31536000, immutable',
      vary: 'accept-encoding',
    });
    expect(decompress(compressedResponse.rawPayload).toString()).toBe(script);
  }
});

test('the build compresses the panel’s assets', () => {
  const assets = fileURLToPath(new URL('../../dist/panel/assets', import.meta.url));
  const names = readdirSync(assets);
  const largeAssets = names.filter(
    (name) => name.endsWith('.js') && statSync(join(assets, name)).size > 1_000,
  );
  expect(largeAssets).not.toEqual([]);
  for (const name of largeAssets) {
    const body = readFileSync(join(assets, name));
    expect(gunzipSync(readFileSync(join(assets, `${name}.gz`))).equals(body)).toBe(true);
    expect(brotliDecompressSync(readFileSync(join(assets, `${name}.br`))).equals(body)).toBe(true);
  }
});

test('a new page with the same size and modification time is sent after an upgrade', async () => {
  const page = join(folder, 'panel', 'index.html');
  const { atime, mtime } = statSync(page);
  const { headers } = await get('/panel/');
  onTestFinished(() => {
    writeFileSync(page, '<title>Panel</title>');
    utimesSync(page, atime, mtime);
  });
  writeFileSync(page, '<title>Later</title>');
  utimesSync(page, atime, mtime);
  const { etag, 'last-modified': modified } = headers;
  const conditions = {
    ...(etag === undefined ? {} : { 'if-none-match': etag }),
    'if-modified-since': String(modified ?? mtime.toUTCString()),
  };
  const repeatedResponse = await get('/panel/', conditions);
  expect([repeatedResponse.statusCode, repeatedResponse.body]).toEqual([
    200,
    '<title>Later</title>',
  ]);
});

test('HEAD returns only the headers', async () => {
  const { statusCode, headers, body } = await app.inject({ method: 'HEAD', url: '/panel/' });
  expect([statusCode, body]).toEqual([200, '']);
  expect(headers).toMatchObject({ 'content-length': '20', 'cache-control': 'no-cache' });
});

test('unknown paths return the page and never a file outside the panel', async () => {
  expect((await get('/panel')).headers['location']).toBe('/panel/');
  expect((await get('/panel/placements')).body).toBe('<title>Panel</title>');
  for (const path of [
    '/panel/api/nothing',
    '/panel/missing.js',
    '/panel/assets',
    '/panel/assets/',
    '/panel/.env',
    '/panel/%2eenv',
    '/panel/../secret.html',
    '/panel/%2e%2e/secret.html',
    '/panel/..%2fsecret.html',
    '/panel/assets/..%2f..%2fsecret.html',
  ])
    expect([path, (await get(path)).body.includes('not part of the panel')]).toEqual([path, false]);
});
