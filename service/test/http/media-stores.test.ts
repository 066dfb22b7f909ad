import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createFolderStore } from '../../src/media/folder-store.ts';
import type { MediaStore } from '../../src/media/media-store.ts';
import { createS3Store } from '../../src/media/s3-store.ts';
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

test.each([
  ['a folder', () => createFolderStore(join(folder, 'made'))],
  ['a bucket', () => createS3Store(s3)],
] as [string, () => MediaStore][])(
  '%s keeps files, hands out parts of them, and removes them',
  async (_name, make) => {
    const store = make();
    expect(await store.find(name)).toBeUndefined();
    await store.put(name, body, 'image/png');
    await store.put(name, body, 'image/png');
    const found = await store.find(name);
    expect(found?.bytes).toBe(10);
    expect(found && (await buffer(await found.read())).toString()).toBe('0123456789');
    expect(found && (await buffer(await found.read({ start: 2, end: 4 }))).toString()).toBe('234');
    await store.put('other', body, 'image/png');
    await store.remove('other');
    await store.remove('other');
    expect(await store.find('other')).toBeUndefined();
    expect(await store.find(name)).toBeDefined();
  },
);

test('a folder holds nothing but whole files', () => {
  expect(readdirSync(join(folder, 'made'))).toEqual([name]);
});

test('a bucket is asked with signatures that it verifies, over the content too', async () => {
  expect(s3.objects.get(name)).toEqual({ body, type: 'image/png' });
  expect(s3.refusals).toEqual([]);
  const stranger = createS3Store({ ...s3, secret: 'another' });
  await expect(stranger.put('b.png', body, 'image/png')).rejects.toThrow('answered 403');
  await expect(stranger.find(name)).rejects.toThrow('answered 403');
  expect(s3.refusals).toEqual(['a wrong signature', 'a wrong signature']);
  expect(s3.objects.has('b.png')).toBe(false);
});

test('a bucket that is not there is no success', async () => {
  const nowhere = createS3Store({ ...s3, url: s3.url.replace('/ads', '/other') });
  await expect(nowhere.put(name, body, 'image/png')).rejects.toThrow('no such bucket');
});
