import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createFolderStore, type MediaStore, createS3Store } from '../../src/media/media-store.ts';
import { type S3Server, startS3Server } from '../s3-server.ts';

let s3: S3Server;
const folder = mkdtempSync(join(tmpdir(), 'trueward-media-'));
beforeAll(async () => {
  s3 = await startS3Server();
});
afterAll(async () => {
  rmSync(folder, { recursive: true });
  await s3.stop();
});

const name = `${'a'.repeat(64)}.png`;
const body = Buffer.from('0123456789');

async function read({ source }: MediaStore, file: string): Promise<string | undefined> {
  if ('fetch' in source) {
    const response = await source.fetch(file, { method: 'GET', range: undefined });
    return response && text(response.body);
  }
  const path = join(source.folder, file);
  return existsSync(path) ? readFileSync(path, 'utf8') : undefined;
}

test.each([
  ['a folder', () => createFolderStore(join(folder, 'made'))],
  ['a bucket', () => createS3Store(s3)],
] as [string, () => MediaStore][])('%s stores and removes files', async (_name, createStore) => {
  const store = createStore();
  expect(await read(store, name)).toBeUndefined();
  await store.put(name, body, 'image/png');
  await store.put(name, body, 'image/png');
  expect(await read(store, name)).toBe('0123456789');
  await store.put('other', body, 'image/png');
  await store.remove('other');
  await store.remove('other');
  expect(await read(store, 'other')).toBeUndefined();
  expect(await read(store, name)).toBeDefined();
});

test('a folder store leaves no incomplete files behind', () => {
  expect(readdirSync(join(folder, 'made'))).toEqual([name]);
});

test('bucket requests are signed, and the signature covers the content', async () => {
  expect(s3.objects.get(name)).toEqual({ body, type: 'image/png' });
  expect(s3.rejections).toEqual([]);
  const storeWithWrongSecret = createS3Store({ ...s3, secret: 'another' });
  await expect(storeWithWrongSecret.put('b.png', body, 'image/png')).rejects.toThrow(
    'returned 403',
  );
  await expect(read(storeWithWrongSecret, name)).rejects.toThrow('returned 403');
  expect(s3.rejections).toEqual(['invalid signature', 'invalid signature']);
  expect(s3.objects.has('b.png')).toBe(false);
});

test('a missing bucket is an error', async () => {
  const missingBucketStore = createS3Store({ ...s3, url: s3.url.replace('/ads', '/other') });
  await expect(missingBucketStore.put(name, body, 'image/png')).rejects.toThrow('does not exist');
});
