import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { pino } from 'pino';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { createFolderStore, type MediaStore } from '../../src/media/media-store.ts';
import { createUploads } from '../../src/media/unused-uploads.ts';
import { createQuotas } from '../../src/store/quotas.ts';
import { type InProcessService, startInProcess } from '../in-process.ts';
import { createManualClock } from '../manual-clock.ts';
import { type PanelClient, signInOwner } from './panel-client.ts';

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
const clock = createManualClock(Date.now());
let runningService: InProcessService;
let owner: PanelClient;
let folder: string;
beforeAll(async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  runningService = await startInProcess({ RATE_LIMITS: 'off' }, { clock });
  folder = join(runningService.config.dataDirectory, 'media');
  owner = await signInOwner(runningService);
});
afterAll(async () => {
  await runningService.stop();
  vi.useRealTimers();
});

const readDemoFile = (file: string): Buffer =>
  readFileSync(fileURLToPath(new URL(`../../../demo/creatives/dist/${file}`, import.meta.url)));
async function upload(file: string): Promise<{ url: string; name: string }> {
  const body = new Blob([new Uint8Array(readDemoFile(file))]);
  const response = await owner.send<{ url: string }>(
    'POST',
    `/panel/api/media?name=${file}`,
    body,
    {
      'content-type': 'application/octet-stream',
    },
  );
  const { url } = response.body;
  return { url, name: url.split('/').at(-1) ?? '' };
}
const listStoredFiles = () => readdirSync(folder).toSorted();
/** Deletes unused uploads from this store, the way the service does. */
const removeUnusedUploads = (store: MediaStore = createFolderStore(folder)) =>
  createUploads({
    database: runningService.service.database,
    store,
    quotas: createQuotas({}, clock),
    clock,
    log: pino({ level: 'silent' }),
  }).removeUnused();
async function advance(ms: number): Promise<void> {
  clock.set(clock.nowMs() + ms);
  // The previous session has expired.
  await owner.signIn('owner@example.com');
}

test('a file is deleted 30 days after the last creative stopped using it', async () => {
  const [usedFile, unusedFile] = [await upload('harbour.png'), await upload('lobby-banner.png')];
  const { body: list } = await owner.send<{ data: { id: string }[] }>('GET', '/v1/creatives');
  const changeMediaUrl = (url: string) =>
    owner.send('PATCH', `/v1/creatives/${list.data[0]?.id}`, {
      media: {
        format: 'image',
        files: [{ url, mime: 'image/png', width: 1_200, height: 675 }],
      },
    });
  expect((await changeMediaUrl(usedFile.url)).status).toBe(200);
  expect(await removeUnusedUploads()).toEqual([]);
  await advance(30 * dayMs - 1);
  expect(await removeUnusedUploads()).toEqual([]);
  await advance(1);
  // The service looks for unused uploads every hour.
  vi.advanceTimersByTime(hourMs);
  await expect.poll(listStoredFiles).toEqual([usedFile.name]);
  expect((await fetch(`${runningService.url}/media/${unusedFile.name}`)).status).toBe(404);
  expect((await fetch(`${runningService.url}/media/${usedFile.name}`)).status).toBe(200);

  // The 30-day period starts when the creative stops using the file, not when the file is uploaded.
  expect((await changeMediaUrl('https://cdn.example/other.png')).status).toBe(200);
  expect(await removeUnusedUploads()).toEqual([]);
  await advance(29 * dayMs);
  expect(await removeUnusedUploads()).toEqual([]);
  expect((await changeMediaUrl(usedFile.url)).status).toBe(200);
  await advance(dayMs);
  expect(await removeUnusedUploads()).toEqual([]);
  expect((await changeMediaUrl('https://cdn.example/other.png')).status).toBe(200);
  await removeUnusedUploads();
  await advance(30 * dayMs);
  expect(await removeUnusedUploads()).toEqual([usedFile.name]);
  expect(listStoredFiles()).toEqual([]);
});

test('a file uploaded again during its deletion is kept', async () => {
  const { name } = await upload('lobby-banner.png');
  await advance(30 * dayMs);
  const folderStore = createFolderStore(folder);
  let repeatedUpload: ReturnType<typeof upload> | undefined;
  const removedFiles = await removeUnusedUploads({
    ...folderStore,
    async remove(name) {
      repeatedUpload = upload('lobby-banner.png');
      await folderStore.remove(name);
    },
  });
  expect(removedFiles).toEqual([name]);
  await repeatedUpload;
  expect(listStoredFiles()).toEqual([name]);
  expect(await removeUnusedUploads()).toEqual([]);
});

test('a failed deletion is retried and does not affect other files', async () => {
  const { name: undeletableFile } = await upload('lobby-banner.png');
  await advance(1);
  const { name } = await upload('harbour.png');
  await advance(30 * dayMs);
  const folderStore = createFolderStore(folder);
  const failingStore: MediaStore = {
    ...folderStore,
    remove: (file) =>
      file === undeletableFile ? Promise.reject(new Error('403')) : folderStore.remove(file),
  };
  expect(await removeUnusedUploads(failingStore)).toEqual([name]);
  expect(await removeUnusedUploads()).toEqual([undeletableFile]);
});

test('a file that only an archived creative uses is deleted', async () => {
  const { url, name } = await upload('lobby-banner.png');
  const { body: list } = await owner.send<{ data: Record<string, unknown>[] }>(
    'GET',
    '/v1/creatives',
  );
  const { advertiser_id, source_id } = list.data[0] ?? {};
  const media = {
    format: 'image',
    files: [{ url, mime: 'image/png', width: 1_200, height: 675 }],
  };
  const creative = { name: 'Old', alt: '', advertiser_id, source_id, media };
  const { body: created } = await owner.send<{ id: string }>('POST', '/v1/creatives', creative);
  expect((await owner.send('DELETE', `/v1/creatives/${created.id}`)).status).toBeLessThan(300);
  expect(await removeUnusedUploads()).toEqual([]);
  await advance(30 * dayMs);
  expect(await removeUnusedUploads()).toEqual([name]);
});

test('each run deletes at most 100 files', async () => {
  await runningService.service.database.query(
    `INSERT INTO uploads (account_id, name, bytes, unused_since)
      SELECT 'service', 'file-' || n, 1, $1 FROM generate_series(1, 130) AS n`,
    [new Date(clock.nowMs() - 31 * dayMs)],
  );
  expect((await removeUnusedUploads()).length).toBe(100);
  expect((await removeUnusedUploads()).length).toBe(30);
});
