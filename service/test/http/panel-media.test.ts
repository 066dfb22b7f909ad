import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { chromium } from 'playwright';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type InProcessService, startInProcess } from '../in-process.ts';
import { forbiddenNames, unusualNames } from '../forbidden-names.ts';
import { createManualClock } from '../manual-clock.ts';
import { type PanelClient, signInOwner } from './panel-client.ts';

let runningService: InProcessService;
let owner: PanelClient;
const clock = createManualClock(Date.now());
beforeAll(async () => {
  runningService = await startInProcess({ RATE_LIMITS: 'off' }, { clock });
  owner = await signInOwner(runningService);
});
afterAll(() => runningService.stop());

const readDemoFile = (file: string): Buffer =>
  readFileSync(fileURLToPath(new URL(`../../../demo/creatives/dist/${file}`, import.meta.url)));

interface UploadResult {
  url: string;
  sha256: string;
  bytes: number;
  mime: string;
  detail?: string;
}
const upload = (body: Buffer | string, type = 'application/octet-stream', name = 'file') =>
  owner.send<UploadResult>(
    'POST',
    `/panel/api/media?name=${encodeURIComponent(name)}`,
    new Blob([typeof body === 'string' ? body : new Uint8Array(body)]),
    { 'content-type': type },
  );
const fetchFile = (url: string, headers = {}) =>
  fetch(runningService.url + new URL(url).pathname, { headers });
const listStoredFiles = () => readdirSync(join(runningService.config.dataDirectory, 'media'));

test('an uploaded video is stored under its content hash with its metadata', async () => {
  const body = readDemoFile('meadow.mp4');
  const { status, body: uploadedFile } = await upload(body, 'video/mp4', 'meadow.mp4');
  expect(status).toBe(201);
  expect(uploadedFile).toEqual({
    url: `${runningService.url}/media/${uploadedFile.sha256}.mp4`,
    sha256: expect.stringMatching(/^[0-9a-f]{64}$/) as string,
    bytes: body.length,
    mime: 'video/mp4',
    width: 640,
    height: 360,
    duration_ms: 12_000,
    video_codec: 'avc1.42c01e',
    audio_codec: 'mp4a.40.2',
  });
  await upload(body);
  expect(listStoredFiles()).toEqual([`${uploadedFile.sha256}.mp4`]);

  const fullResponse = await fetchFile(uploadedFile.url);
  expect(Buffer.from(await fullResponse.arrayBuffer()).equals(body)).toBe(true);
  expect(Object.fromEntries(fullResponse.headers)).toMatchObject({
    'content-type': 'video/mp4',
    'cache-control': 'public, max-age=31536000, immutable',
    'x-content-type-options': 'nosniff',
    'cross-origin-resource-policy': 'cross-origin',
    'access-control-allow-origin': '*',
    'content-security-policy': expect.stringMatching(/^sandbox; default-src 'none'/) as string,
  });
  const partialResponse = await fetchFile(uploadedFile.url, { range: 'bytes=4-7' });
  expect([
    partialResponse.status,
    partialResponse.headers.get('content-range'),
    await partialResponse.text(),
  ]).toEqual([206, `bytes 4-7/${body.length}`, 'ftyp']);
  expect((await fetchFile(uploadedFile.url, { range: `bytes=${body.length}-` })).status).toBe(416);
});

test.each([
  [
    'meadow.webm',
    'video/webm',
    { width: 640, height: 360, duration_ms: 12_007, audio_codec: 'opus' },
  ],
  ['harbour.png', 'image/png', { width: 1_200, height: 675 }],
  ['meadow-poster.jpg', 'image/jpeg', { width: 640, height: 360 }],
  ['lantern.html', 'text/html', {}],
])('%s is detected as %s', async (file, mime, metadata) => {
  const { status, body } = await upload(readDemoFile(file), mime, file);
  expect(status).toBe(201);
  expect(body).toMatchObject({ mime, ...metadata });
});

const script = '<script>document.title="ran"</script>';
const endlessVideo = (() => {
  const body = Buffer.from(readDemoFile('meadow.mp4'));
  // Replaces the first sample's duration in the time-to-sample table (ISO/IEC 14496-12, 8.6.1.2).
  body.writeUInt32BE(0xffffffff, body.indexOf('stts', 0, 'latin1') + 16);
  return body;
})();
const hugePng = (() => {
  const body = Buffer.from(readDemoFile('harbour.png'));
  body.writeUInt32BE(60_000, 16);
  body.writeUInt32BE(60_000, 20);
  return body;
})();
const createBox = (type: string, content = '') => {
  const body = Buffer.from(`0000${type}${content}`, 'latin1');
  body.writeUInt32BE(body.length);
  return body;
};

test.each([
  ['HTML declared as PNG', `<!doctype html>${script}`, 'image/png', /is text\/html/],
  ['a PNG declared as HTML', readDemoFile('harbour.png'), 'text/html', /is image\/png/],
  ['HTML after other text', `hello <html>${script}`, '', /is not MP4/],
  ['an executable', Buffer.from('MZ\x90\0\x03\0\0\0', 'latin1'), 'image/png', /is not MP4/],
  ['a ZIP archive', Buffer.from('PK\x03\x04aaaaaaaaaaaaaaaaaaaa', 'latin1'), '', /is not MP4/],
  ['a PDF', '%PDF-1.7\n', 'application/pdf', /is not MP4/],
  [
    'a script with a GIF signature',
    `GIF89a/*${'a'.repeat(40)}*/=alert(1)//;`,
    'image/gif',
    /pixels|cannot be parsed/,
  ],
  ['a truncated MP4', readDemoFile('meadow.mp4').subarray(0, 120_000), 'video/mp4', /truncated/],
  ['an MP4 without its last byte', readDemoFile('meadow.mp4').subarray(0, -1), '', /truncated/],
  ['the first bytes of an MP4', readDemoFile('meadow.mp4').subarray(0, 30), '', /truncated/],
  ['a truncated WebM', readDemoFile('meadow.webm').subarray(0, 100_000), '', /truncated/],
  ['a truncated PNG', readDemoFile('harbour.png').subarray(0, 20_000), '', /truncated/],
  ['a PNG with enormous dimensions', hugePng, 'image/png', /60000 × 60000/],
  ['a video that lasts for years', endlessVideo, 'video/mp4', /must be 2.5 to 120 s long/],
  [
    'a video without tracks',
    Buffer.concat([createBox('ftyp', 'isom0000isom'), createBox('moov'), createBox('mdat')]),
    '',
    /browsers support|cannot be parsed/,
  ],
  [
    'a QuickTime movie',
    Buffer.concat([createBox('ftyp', 'qt  0000qt  '), createBox('moov'), createBox('mdat')]),
    '',
    /is not MP4/,
  ],
  [
    'an MP4 box with an enormous size',
    Buffer.concat([
      createBox('ftyp', 'isom0000isom'),
      Buffer.from('\xff\xff\xff\xffmoov', 'latin1'),
    ]),
    '',
    /truncated/,
  ],
  [
    'an SVG with entity expansion',
    '<svg xmlns="http://www.w3.org/2000/svg"><!DOCTYPE x [<!ENTITY a "aaaa">]></svg>',
    '',
    /declares entities/,
  ],
  [
    'HTML that is not valid UTF-8',
    Buffer.from('<!doctype html>\xff\xfe', 'latin1'),
    '',
    /not valid UTF-8/,
  ],
  ['a 2 MB HTML page', `<!doctype html>${'a'.repeat(2_000_000)}`, '', /more than 1 MiB/],
  ['an empty upload', '', '', /Send the file/],
] as [string, Buffer | string, string, RegExp][])(
  '%s is rejected',
  async (_name, body, type, reason) => {
    const filesBefore = listStoredFiles();
    const response = await upload(body, type === '' ? undefined : type, 'a.png');
    expect(response.status).toBe(422);
    expect(response.body.detail).toMatch(reason);
    expect(listStoredFiles()).toEqual(filesBefore);
  },
);

test('an upload over 20 MiB is rejected', async () => {
  const response = await upload(Buffer.alloc(20 * 1_024 * 1_024 + 1));
  expect(response.status).toBe(413);
  expect(response.body.detail).toContain('20 MiB for media');
});

test('a file name cannot be used for path traversal', async () => {
  const { body } = await upload(
    readDemoFile('lobby-banner.png'),
    'image/png',
    '../../../etc/cron.d/x.html\0',
  );
  expect(body.url).toBeUndefined();
  const renamedUpload = await upload(
    readDemoFile('lobby-banner.png'),
    'image/png',
    '../../../etc/x.html',
  );
  expect(renamedUpload.body.url).toMatch(/\/media\/[0-9a-f]{64}\.png$/);
  expect(listStoredFiles().filter((name) => !/^[0-9a-f]{64}\.[a-z0-9]+$/.test(name))).toEqual([]);
  const htmlUrl = renamedUpload.body.url.replace(/png$/, 'html');
  for (const path of [
    new URL(htmlUrl).pathname,
    '/media/..%2fmaster.key',
    '/media/..%2f..%2fmaster.key',
    `/media/..%2fmedia%2f${renamedUpload.body.sha256}.png`,
    `/media/${renamedUpload.body.sha256}.png%00.html`,
    `/media/${renamedUpload.body.sha256.toUpperCase()}.png`,
  ])
    expect([path, (await fetch(runningService.url + path)).status]).toEqual([path, 404]);
});

test.each([
  // One of each kind.
  ...new Map(forbiddenNames),
  ...unusualNames,
  ['text that is turned around', 'ad\u202egnp.exe'] as [string, string],
  ['nothing that is visible', '\u202e'] as [string, string],
])('a file called %s is stored under the hash of its content: %j', async (_, name) => {
  // Later than every other entry of the audit log.
  clock.advance(1);
  const { status, body } = await upload(readDemoFile('harbour.png'), 'image/png', name);
  expect(status).toBe(201);
  expect(body.url).toBe(`${runningService.url}/media/${body.sha256}.png`);
  expect(listStoredFiles().filter((file) => !/^[0-9a-f]{64}\.[a-z0-9]+$/.test(file))).toEqual([]);
  const response = await fetch(`${runningService.url}/media/${encodeURIComponent(name)}`);
  expect(response.status).toBe(404);

  const audit = await owner.send<{ data: { after: { name?: string } }[] }>(
    'GET',
    '/v1/audit-entries?limit=1',
  );
  const shownName = audit.body.data[0]?.after.name ?? '';
  expect(shownName).toBe(shownName.normalize('NFC'));
  expect(shownName).not.toMatch(/[/\\\n\p{Cc}\p{Bidi_Control}]|^\s|\s$/u);
});

test('a file whose name is longer than any file’s is rejected', async () => {
  const { status } = await upload(readDemoFile('harbour.png'), 'image/png', 'a'.repeat(256));
  expect(status).toBe(422);
});

test("an uploaded file never becomes a page of the service's origin, and runs only in an opaque one", async () => {
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><script>document.documentElement.setAttribute("ran", "1")</script><rect width="9" height="9" onload="document.documentElement.setAttribute('ran', '1')"/></svg>`;
  const html = `<!doctype html><title>still</title><script>
    let seen; try { seen = document.cookie } catch (error) { seen = error.name }
    const tell = (text) => parent.postMessage(text, '*');
    fetch('/panel/api/session').then(() => tell('reached'), () => tell(origin + ' ' + seen));
    </script>`;
  const picture = Buffer.concat([
    readDemoFile('lobby-banner.png'),
    Buffer.from(`<html>${script}</html>`),
  ]);
  const urls: (string | undefined)[] = [];
  for (const file of [svg, html, picture]) urls.push((await upload(file)).body.url);
  const browser = await chromium.launch({
    executablePath:
      process.env['HEADLESS_SHELL_PATH'] ?? process.env['CHROMIUM_PATH'] ?? '/usr/bin/chromium',
    args: ['--no-sandbox'],
  });
  try {
    const page = await browser.newPage();
    const open = (url = '') => page.goto(runningService.url + new URL(url).pathname);
    /** Loads a file in a frame of the panel's page. */
    const frame = async (url = '') => {
      await page.evaluate(
        (path) =>
          new Promise((resolve) => {
            const element = document.createElement('iframe');
            element.onload = resolve;
            element.src = path;
            document.body.append(element);
          }),
        new URL(url).pathname,
      );
      return page.frames().at(-1);
    };
    await page.goto(`${runningService.url}/panel/`);
    await page.evaluate(() =>
      addEventListener('message', ({ data }) => (document.body.dataset['told'] = String(data))),
    );
    const svgFrame = await frame(urls[0]);
    expect(await svgFrame?.locator('svg').getAttribute('ran')).toBeNull();
    await frame(urls[1]);
    await page.waitForFunction(() => document.body.dataset['told'] !== undefined);
    expect(await page.evaluate(() => document.body.dataset['told'])).toBe('null SecurityError');
    // Both are in the browser's cache now, under the same address.
    for (const url of urls.slice(0, 2)) {
      const opened = await open(url);
      expect(opened?.status()).toBe(403);
      expect(await opened?.json()).toMatchObject({ code: 'frame_required' });
    }
    const response = await open(urls[2]);
    expect(response?.headers()['content-type']).toBe('image/png');
    expect(await page.locator('script').count()).toBe(0);
  } finally {
    await browser.close();
  }
});
