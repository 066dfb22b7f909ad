import { createHash } from 'node:crypto';
import { readFileSync, readdirSync } from 'node:fs';
import { constants } from 'node:os';
import { fileURLToPath } from 'node:url';
import { afterEach, expect, test } from 'vitest';
import { createProbeThread, type ProbeThread } from '../../src/media/probe-thread.ts';

const meadow = readFileSync(
  fileURLToPath(new URL('../../../demo/creatives/dist/meadow.mp4', import.meta.url)),
);
const copyMeadow = (): Buffer => Buffer.from(new Uint8Array(meadow).buffer);

/** Returns the meadow video with `entries` entries in its first time-to-sample table (ISO/IEC 14496-12, 8.6.1.2). */
function createVideoWithSampleTimes(entries: number): Buffer {
  const tableStart = meadow.indexOf('stts') - 4;
  const oldSize = meadow.readUInt32BE(tableStart);
  const table = Buffer.alloc(16 + entries * 8);
  table.writeUInt32BE(table.length);
  table.write('stts', 4, 'latin1');
  table.writeUInt32BE(entries, 12);
  for (let entry = 16; entry < table.length; entry += 8) {
    table.writeUInt32BE(1, entry);
    table.writeUInt32BE(1 + ((entry / 8) % 2), entry + 4);
  }
  const head = Buffer.from(meadow.subarray(0, tableStart));
  for (const box of ['moov', 'trak', 'mdia', 'minf', 'stbl']) {
    const sizeOffset = head.lastIndexOf(box) - 4;
    head.writeUInt32BE(head.readUInt32BE(sizeOffset) + table.length - oldSize, sizeOffset);
  }
  return Buffer.concat([head, table, meadow.subarray(tableStart + oldSize)]);
}

let thread: ProbeThread;
afterEach(() => thread.stop());

test('files are parsed one at a time in a worker thread', async () => {
  thread = createProbeThread();
  const [video, text] = await Promise.allSettled([
    thread.probe(copyMeadow()),
    thread.probe(Buffer.from('<!doctype html>\xff', 'latin1')),
  ]);
  expect(video).toMatchObject({
    value: { properties: { type: 'video/mp4', durationMs: 12_000 } },
  });
  expect(text).toMatchObject({ reason: { message: 'The file is text, but not valid UTF-8.' } });
});

test.each<[string, () => Buffer, number]>([
  ['with memory of its own is handed over', copyMeadow, 0],
  [
    'that shares its memory is copied',
    () => Buffer.concat([copyMeadow(), meadow]).subarray(0, meadow.length),
    meadow.length,
  ],
  [
    'that is a few bytes long is copied',
    () => Buffer.from('GIF89a\x01\0\x01\0\0\0\0;', 'latin1'),
    14,
  ],
])('a file %s, and comes back with its hash', async (_how, create, bytesLeft) => {
  thread = createProbeThread();
  const body = create();
  const content = Buffer.from(body);
  const file = await thread.probe(body);
  expect(body.length).toBe(bytesLeft);
  expect(file.body.equals(content)).toBe(true);
  expect(file.sha256).toBe(createHash('sha256').update(content).digest('hex'));
});

test('a file that is slow to parse does not block the process', async () => {
  // The thread has a low priority, so other tests may slow it down as much as they like.
  thread = createProbeThread({ timeoutMs: 60_000 });
  await thread.probe(copyMeadow());
  const costlyVideo = createVideoWithSampleTimes(1_000_000);
  // This thread only copies the file; the worker thread parses it. Meanwhile, other work is done here.
  let isOtherWorkDone = false;
  const probing = thread.probe(costlyVideo);
  setImmediate(() => (isOtherWorkDone = true));
  await expect(probing).rejects.toThrow(/is .* s long; a video must be/);
  expect(isOtherWorkDone).toBe(true);
});

/** How many of this process's threads run at a low priority. See `proc_pid_stat(5)`: `nice` is the 19th field. */
const countLowThreads = (): number =>
  readdirSync('/proc/self/task').filter((id) => {
    const fields = readFileSync(`/proc/self/task/${id}/stat`, 'utf8').split(') ')[1]?.split(' ');
    return Number(fields?.[16]) === constants.priority.PRIORITY_BELOW_NORMAL;
  }).length;

test.runIf(process.platform === 'linux')(
  'files wait for everything else, and after `stop` no thread is left',
  async () => {
    const before = countLowThreads();
    thread = createProbeThread();
    await thread.probe(copyMeadow());
    expect(countLowThreads()).toBe(before + 1);
    await thread.stop();
    expect(countLowThreads()).toBe(before);
  },
);

test('a file that takes too long to parse is rejected', async () => {
  // Loading the parser takes longer than 1 ms, so this limit is always exceeded.
  thread = createProbeThread({ timeoutMs: 1 });
  const results = await Promise.allSettled([
    thread.probe(copyMeadow()),
    thread.probe(copyMeadow()),
  ]);
  for (const result of results)
    expect(result).toMatchObject({
      reason: { message: expect.stringContaining('too much time or memory') },
    });
});
