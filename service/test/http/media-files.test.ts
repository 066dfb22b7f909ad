import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Fastify from 'fastify';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { toProblemResponse } from '../../src/http/problem.ts';
import { addMediaRoutes } from '../../src/http/files.ts';
import { createFolderStore, type MediaStore, createS3Store } from '../../src/media/media-store.ts';
import { type S3Server, startS3Server } from '../s3-server.ts';

const folder = mkdtempSync(join(tmpdir(), 'trueward-media-'));
const mediaDirectory = join(folder, 'own');
const uploadedFile = `${'a'.repeat(64)}.png`;
const body = Buffer.from('0123456789'.repeat(10));
let s3: S3Server;
beforeAll(async () => {
  mkdirSync(join(mediaDirectory, 'folder.png'), { recursive: true });
  writeFileSync(join(folder, 'secret.png'), 'secret');
  writeFileSync(join(mediaDirectory, 'own.webm'), body);
  writeFileSync(join(mediaDirectory, 'own.avif'), body);
  writeFileSync(join(mediaDirectory, 'captions.vtt'), body);
  writeFileSync(join(mediaDirectory, 'page.html'), body);
  writeFileSync(join(mediaDirectory, '.hidden.png'), 'secret');
  writeFileSync(join(mediaDirectory, 'notes.txt'), 'secret');
  s3 = await startS3Server();
});
afterAll(async () => {
  rmSync(folder, { recursive: true });
  await s3.stop();
});

describe.each([
  ['a folder', () => createFolderStore(join(folder, 'uploads'))],
  ['a bucket', () => createS3Store(s3)],
] as [string, () => MediaStore][])('with uploads in %s', (_name, createStore) => {
  const app = Fastify();
  app.setErrorHandler((error, request, reply) => {
    const { document } = toProblemResponse(error, request.id);
    void reply.code(document.status).send(document);
  });
  let url = '';
  beforeAll(async () => {
    const mediaStore = createStore();
    await mediaStore.put(uploadedFile, body, 'image/png');
    await addMediaRoutes(app, { mediaDirectory, mediaStore });
    url = await app.listen({ host: '127.0.0.1', port: 0 });
  });
  afterAll(() => app.close());
  const get = (file: string, headers: Record<string, string> = {}, method = 'GET') =>
    fetch(`${url}/media/${file}`, { method, headers });

  test.each([
    [undefined, 200, null, 0, 100],
    ['bytes=0-9', 206, 'bytes 0-9/100', 0, 10],
    ['bytes=90-', 206, 'bytes 90-99/100', 90, 100],
    ['bytes=90-1000', 206, 'bytes 90-99/100', 90, 100],
    ['bytes=-10', 206, 'bytes 90-99/100', 90, 100],
    ['bytes=5-1', 200, null, 0, 100],
    ['bytes=0-1,5-6', 200, null, 0, 100],
    ['lines=1-2', 200, null, 0, 100],
    ['bytes=-', 200, null, 0, 100],
  ])(
    'the range %s of an uploaded file is served',
    async (range, status, contentRange, start, end) => {
      const headers = range === undefined ? {} : { range };
      const rangeResponse = await get(uploadedFile, headers);
      expect([rangeResponse.status, rangeResponse.headers.get('content-range')]).toEqual([
        status,
        contentRange,
      ]);
      expect(rangeResponse.headers.get('content-length')).toBe(String(end - start));
      expect(Buffer.from(await rangeResponse.arrayBuffer()).equals(body.subarray(start, end))).toBe(
        true,
      );
      const head = await get(uploadedFile, headers, 'HEAD');
      expect([head.status, head.headers.get('content-length'), await head.text()]).toEqual([
        status,
        String(end - start),
        '',
      ]);
    },
  );

  test.each(['bytes=100-', 'bytes=-0'])('the range %s is not satisfiable', async (range) => {
    const response = await get(uploadedFile, { range });
    expect([response.status, await response.text()]).toEqual([416, '']);
    expect(response.headers.get('cache-control')).toBeNull();
    expect(response.headers.get('access-control-allow-origin')).toBe('*');
  });

  test('a suffix range longer than the file returns the whole file', async () => {
    const response = await get(uploadedFile, { range: 'bytes=-1000' });
    expect([200, 206]).toContain(response.status);
    expect(Buffer.from(await response.arrayBuffer()).equals(body)).toBe(true);
  });

  test('an uploaded file is immutable and cannot run scripts', async () => {
    expect(Object.fromEntries((await get(uploadedFile)).headers)).toMatchObject({
      'content-type': 'image/png',
      'accept-ranges': 'bytes',
      'cache-control': 'public, max-age=31536000, immutable',
      'content-security-policy': expect.stringMatching(/^sandbox; default-src 'none'/) as string,
      'x-content-type-options': 'nosniff',
      'access-control-allow-origin': '*',
      'cross-origin-resource-policy': 'cross-origin',
      'timing-allow-origin': '*',
    });
  });

  test('a page can be embedded in a cross-origin isolated page', async () => {
    const { headers } = await get('page.html');
    expect(headers.get('cross-origin-embedder-policy')).toBe('require-corp');
    expect(headers.get('cross-origin-resource-policy')).toBe('cross-origin');
  });

  test.each([
    ['own.webm', 'video/webm', /^sandbox; /],
    ['own.avif', 'image/avif', /^sandbox; /],
    ['captions.vtt', 'text/vtt; charset=utf-8', /^sandbox; /],
    ['page.html', 'text/html; charset=utf-8', /^sandbox allow-scripts; /],
  ])('%s in the configured folder is served as %s', async (file, type, policy) => {
    const { status, headers } = await get(file);
    expect([status, headers.get('content-type')]).toEqual([200, type]);
    expect(headers.get('content-security-policy')).toMatch(policy);
    expect(headers.get('cache-control')).toBe('public, max-age=300');
  });

  test('a file that the browser has cached is not sent again', async () => {
    // `fetch` would add `cache-control: no-cache` to conditional requests.
    const inject = (headers = {}) => app.inject({ url: '/media/own.webm', headers });
    const { headers } = await inject();
    const [tag, modified] = [headers.etag ?? '', headers['last-modified']];
    const conditions = [
      [{ 'if-none-match': tag }, 304],
      [{ 'if-modified-since': modified }, 304],
      [{ 'if-match': '"other"' }, 412],
      [{ range: 'bytes=0-9', 'if-range': tag }, 206],
      [{ range: 'bytes=0-9', 'if-range': '"other"' }, 200],
    ] as const;
    for (const [condition, status] of conditions)
      expect([condition, (await inject(condition)).statusCode]).toEqual([condition, status]);
  });

  test.each([
    'missing.png',
    `${'b'.repeat(64)}.png`,
    'notes.txt',
    '.hidden.png',
    '%2ehidden.png',
    'folder.png',
    '..%2fsecret.png',
    'folder.png%2f..%2f..%2fsecret.png',
    'own.webm%00.png',
    `..%2fuploads%2f${uploadedFile}`,
    '%2fetc%2fpasswd.png',
  ])('%s is not served', async (file) => {
    expect((await get(file)).status).toBe(404);
  });
});

test('the error response for an unreadable file is not cacheable', async () => {
  const uploadsFolder = join(folder, 'unreadable');
  mkdirSync(uploadsFolder);
  // `stat` works on a socket, but opening it fails, as it does for any file once file descriptors run out.
  const socket = createServer().listen(join(uploadsFolder, uploadedFile));
  await once(socket, 'listening');
  const app = Fastify({ logger: false });
  onTestFinished(async () => {
    await app.close();
    socket.close();
  });
  await addMediaRoutes(app, { mediaDirectory, mediaStore: createFolderStore(uploadsFolder) });
  const response = await app.inject({ url: `/media/${uploadedFile}` });
  expect(response.statusCode).toBe(500);
  for (const name of ['cache-control', 'etag', 'last-modified', 'accept-ranges'])
    expect([name, response.headers[name]]).toEqual([name, undefined]);
});
