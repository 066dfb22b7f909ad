import { readFileSync } from 'node:fs';
import type { RequestListener } from 'node:http';
import { fileURLToPath } from 'node:url';
import type { Advertiser, AuditEntry, Creative, Decision } from '@trueward/protocol/wire';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import type { Offer } from '../../src/demand/offer.ts';
import { type InProcessService, startInProcess } from '../in-process.ts';
import { createManualClock } from '../manual-clock.ts';
import { type Client, createClient } from './client.ts';
import { type MediaOrigin, startMediaOrigin } from './media-origin.ts';

const minuteMs = 60_000;
const dayMs = 86_400_000;
const clock = createManualClock(Date.now());
const pollOptions = { timeout: 20_000 };
let running: InProcessService;
let client: Client;
let origin: MediaOrigin;
beforeAll(async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  running = await startInProcess({ RATE_LIMITS: 'off' }, { clock });
  client = createClient(running);
  origin = await startMediaOrigin();
});
afterAll(async () => {
  await running.stop();
  await origin.stop();
  vi.useRealTimers();
});

const file = (path: string): Buffer =>
  readFileSync(fileURLToPath(new URL(`../../../${path}`, import.meta.url)));
const meadow = file('demo/creatives/dist/meadow.mp4');
const meadowWebm = file('demo/creatives/dist/meadow.webm');
const clip = file('test/media/clip.mp4');
const picture = file('test/media/picture.png');
const banner = file('demo/creatives/dist/lobby-banner.png');
/**
 * The meadow video, relabeled as HEVC: its sample entry and decoder configuration have the HEVC names (ISO/IEC
 * 14496-15, 8.3.3 and 8.4.1).
 */
const hevc = (() => {
  const body = Buffer.from(meadow);
  const config = body.indexOf('avcC');
  body.write('hvc1', body.indexOf('avc1', 40), 'latin1');
  body.write('hvcC', config, 'latin1');
  body.fill(0, config + 4, config + 44);
  Buffer.from('01016000000090000000000078f000fcfdf8f800000f00', 'hex').copy(body, config + 4);
  return body;
})();

const post = <T>(path: string, body: object) => client.manage<T>('POST', path, body);
const get = async <T>(path: string): Promise<T> =>
  (await client.call<T>('GET', path, client.secret)).body;

let sourceCount = 0;
/** Creates a source for one test only, because the service slows down a source that offers unusable files. */
async function makeSource(): Promise<string> {
  sourceCount += 1;
  const { id } = await post<{ id: string }>('/v1/sources', {
    name: `Network ${sourceCount}`,
    kind: 'direct',
  });
  return id;
}

interface OfferInput extends Partial<Omit<Offer, 'media'>> {
  url: string;
  mime?: string;
  declaredMs?: number;
}
const createOffer = ({ url, mime = 'video/mp4', declaredMs, ...more }: OfferInput): Offer => ({
  sourceId: '',
  creativeKey: 'ad-id.org 1',
  advertiserDomain: 'meadow.example',
  priceMicros: 1_000_000,
  currency: 'USD',
  media: {
    url: url.startsWith('/') ? origin.url + url : url,
    mime,
    width: 1_920,
    height: 1_080,
    ...(declaredMs === undefined ? {} : { durationMs: declaredMs }),
  },
  captions: [],
  categories: [],
  trackers: { byEvent: {}, progress: [], macros: {} },
  ...more,
});

type SourceRules = { review?: 'manual' | 'automatic'; allowed_domains?: string[] };
const createScope = (environment: 'sandbox' | 'live') => ({
  accountId: [...new Set(accounts)][0] ?? '',
  environment,
});
const accounts: string[] = [];
beforeAll(async () => {
  const rows = await running.service.database.query<{ account_id: string }>(
    'SELECT account_id FROM accounts',
  );
  accounts.push(...rows.map((row) => row.account_id));
});
const submit = (
  sourceId: string,
  input: OfferInput,
  rules: SourceRules = {},
  environment: 'sandbox' | 'live' = 'sandbox',
): void =>
  running.service.intake.submit(
    createScope(environment),
    { id: sourceId, ...rules },
    createOffer({ ...input, sourceId }),
  );

const readCreatives = async (sourceId: string): Promise<Creative[]> =>
  (await get<{ data: Creative[] }>('/v1/creatives?limit=100')).data.filter(
    (creative) => creative.source_id === sourceId,
  );
const readAuditEntries = async (targetId: string): Promise<AuditEntry[]> =>
  (await get<{ data: AuditEntry[] }>(`/v1/audit-entries?target_id=${targetId}`)).data;
const readRejections = async (sourceId: string): Promise<unknown[]> =>
  (await readAuditEntries(sourceId))
    .filter(({ action }) => action === 'creative.refused')
    .map(({ after }) => after?.['reason']);
async function waitForCreatives(sourceId: string, count = 1): Promise<Creative> {
  await expect.poll(() => readCreatives(sourceId), pollOptions).toHaveLength(count);
  const [creative] = await readCreatives(sourceId);
  if (!creative) throw new Error('Expected a creative.');
  return creative;
}
const countFetches = (path: string): number =>
  origin.requests.filter((each) => each === path).length;
const review = (id: string, status: string) => post(`/v1/creatives/${id}/review`, { status });
const readCreative = (id: string) => get<Creative>(`/v1/creatives/${id}`);
const readPath = (url: string | undefined): string => new URL(url ?? '').pathname;
const download = async (url: string | undefined): Promise<Buffer> =>
  Buffer.from(await (await fetch(running.url + readPath(url))).arrayBuffer());
const readVideo = ({ media }: Creative) => {
  if (media.format !== 'video') throw new Error(`The media is ${media.format}.`);
  return media;
};

test('an offered ad becomes a creative that is pending review and has our copy of the media', async () => {
  const source = await makeSource();
  origin.serve('/meadow.mp4', meadow);
  origin.serve('/meadow.vtt', 'WEBVTT\n\n00:00.000 --> 00:01.000\nHello');
  origin.serve('/broken.vtt', '<html>');
  origin.serve('/choices.png', picture);
  submit(source, {
    url: '/meadow.mp4?cb=1',
    advertiserDomain: 'fresh.example',
    advertiserName: 'Fresh\n Fields',
    clickUrl: 'https://fresh.example/spring',
    categories: ['IAB1-1', 'IAB1-1', 'not a category'],
    captions: [
      { url: `${origin.url}/meadow.vtt`, language: 'fr' },
      { url: `${origin.url}/broken.vtt`, language: 'de' },
      { url: `${origin.url}/missing.vtt`, language: 'es' },
    ],
    icon: { url: `${origin.url}/choices.png?cb=2`, clickTrackers: [], viewTrackers: [] },
  });
  await expect
    .poll(async () => (await readCreatives(source)).map(({ icons }) => icons?.length), pollOptions)
    .toEqual([1]);
  const creative = await waitForCreatives(source);
  expect(creative).toMatchObject({
    name: 'Fresh Fields: ad-id.org 1',
    source_key: 'ad-id.org 1',
    origin_url: `${origin.url}/meadow.mp4?cb=1`,
    review: { status: 'pending_review' },
    click_url: 'https://fresh.example/spring',
    categories: ['IAB1-1'],
    media: {
      format: 'video',
      duration_ms: 12_000,
      files: [
        {
          mime: 'video/mp4; codecs="avc1.42c01e, mp4a.40.2"',
          width: 640,
          height: 360,
        },
      ],
      captions: [{ language: 'fr', label: 'français' }],
    },
    icons: [{ origin_url: `${origin.url}/choices.png` }],
  });
  const { files, captions } = readVideo(creative);
  expect(files[0]?.url).toMatch(/\/media\/[0-9a-f]{64}\.mp4$/);
  expect((await download(files[0]?.url)).equals(meadow)).toBe(true);
  expect((await download(captions?.[0]?.url)).toString()).toMatch(/^WEBVTT/);
  expect((await download(creative.icons?.[0]?.url)).equals(picture)).toBe(true);
  const advertiser = await get<Advertiser>(`/v1/advertisers/${creative.advertiser_id}`);
  expect(advertiser).toMatchObject({ name: 'Fresh Fields', domain: 'fresh.example' });
  for (const { id, kind } of [
    { id: creative.id, kind: 'creative' },
    { id: advertiser.id, kind: 'advertiser' },
  ]) {
    const entry = (await readAuditEntries(id)).find(({ action }) => action === `${kind}.created`);
    expect(entry?.actor).toBe('service');
  }
});

test('if the same ad is offered repeatedly, its media is fetched once and one creative is created', async () => {
  const source = await makeSource();
  origin.serve('/once.mp4', clip);
  for (let n = 0; n < 50; n += 1) submit(source, { url: `/once.mp4?cb=${n}` });
  const { id } = await waitForCreatives(source);
  submit(source, { url: '/once.mp4?cb=last' });
  // A source's jobs run in order, so once this job has finished, the earlier one has too.
  submit(source, { url: '/once.mp4', creativeKey: 'other' });
  await waitForCreatives(source, 2);
  expect(countFetches('/once.mp4')).toBe(2);
  expect((await readCreatives(source)).map((each) => each.id)).toContain(id);
});

test('an existing advertiser with the same domain is reused, no matter how the domain is spelled', async () => {
  const source = await makeSource();
  const { id } = await post<Advertiser>('/v1/advertisers', {
    name: 'Known',
    domain: 'WWW.Known.example',
  });
  origin.serve('/known.mp4', clip);
  submit(source, { url: '/known.mp4', advertiserDomain: 'known.example' });
  expect((await waitForCreatives(source)).advertiser_id).toBe(id);
});

test('the required watch time comes from the probed duration, not the declared one', async () => {
  const source = await makeSource();
  origin.serve('/short.mp4', meadow);
  submit(source, { url: '/short.mp4', declaredMs: 2_000 });
  const creative = await waitForCreatives(source);
  expect(readVideo(creative).duration_ms).toBe(12_000);
  await review(creative.id, 'approved');
  const placement = await post<{ name: string }>('/v1/placements', {
    name: 'probed',
    format: 'rewarded',
    reward: { type: 'coins', amount: 1 },
  });
  await post('/v1/house-ads', {
    name: 'Probed',
    creative_id: creative.id,
    placements: [placement.name],
  });
  const { body } = await client.call<Decision>('POST', '/v1/decisions', client.publishable, {
    placement: placement.name,
    user_ref: 'player',
  });
  expect(body).toMatchObject({ status: 'filled', min_watch_ms: 12_000 });
});

test('a WebM file declared as MP4 is stored as WebM', async () => {
  const source = await makeSource();
  origin.serve('/really.webm', meadowWebm);
  submit(source, { url: '/really.webm', mime: 'video/mp4' });
  expect(readVideo(await waitForCreatives(source)).files[0]?.mime).toMatch(
    /^video\/webm; codecs="vp0?9/,
  );
});

const redirectTo =
  (location: string): RequestListener =>
  (_request, response) =>
    void response.writeHead(302, { location }).end();

test.each<[string, RegExp, Parameters<MediaOrigin['serve']>[1], Partial<OfferInput>?]>([
  ['HTML labeled as MP4', /is text\/html; expected an MP4/, '<!doctype html><script>1</script>'],
  ['HEVC labeled as MP4', /codec hev1.*not every browser plays/, hevc],
  ['an image labeled as MP4', /is image\/png; expected an MP4/, picture],
  ['half of an MP4', /truncated/, meadow.subarray(0, 100_000)],
  ['an empty file', /is not MP4/, ''],
  ['a missing file', /responded 404/, redirectTo('/nowhere')],
  [
    'a body that never ends',
    /more than 20971520 bytes/,
    (_request, response) => {
      const more = (): void => {
        while (!response.destroyed && response.write(Buffer.alloc(65_536)));
        if (!response.destroyed) response.once('drain', more);
      };
      more();
    },
  ],
  [
    'a declared length that is too large',
    /more than 20971520 bytes/,
    (_request, response) => {
      response.writeHead(200, { 'content-length': 10 ** 12 });
      response.write('a');
    },
  ],
  [
    'a redirect to a private address',
    /10\.0\.0\.7.* must be on the public internet/,
    redirectTo('https://10.0.0.7/ad.mp4'),
  ],
  [
    'a redirect to cloud metadata',
    /169\.254.* must be an https URL/,
    redirectTo('http://169.254.169.254/latest'),
  ],
  ['a redirect to itself', /redirects more than 3 times/, redirectTo('/refused-8')],
  ['a redirect to a script', /which is not a web URL/, redirectTo('javascript:alert(1)')],
  [
    'an ad without an advertiser',
    /has no advertiser domain/,
    meadow,
    { advertiserDomain: undefined } as never,
  ],
  [
    'an advertiser domain that is an IP',
    /"10\.0\.0\.7" is not a domain/,
    meadow,
    { advertiserDomain: '10.0.0.7' },
  ],
  [
    'an id of a thousand characters',
    /1 to 500 characters/,
    meadow,
    { creativeKey: 'a'.repeat(1_000) },
  ],
])('%s is rejected, and the audit log says why', async (name, reason, response, more = {}) => {
  const source = await makeSource();
  const path = name === 'a redirect to itself' ? '/refused-8' : `/refused-${source}`;
  origin.serve(path, response);
  submit(source, { url: path, ...more });
  await expect.poll(() => readRejections(source), pollOptions).toHaveLength(1);
  expect((await readRejections(source))[0]).toMatch(reason);
  expect(await readCreatives(source)).toEqual([]);
});

test('a rejected file is not fetched again for an hour, but a replacement is fetched right away', async () => {
  const source = await makeSource();
  origin.serve('/refused.mp4', '<!doctype html>');
  origin.serve('/fixed.mp4', clip);
  submit(source, { url: '/refused.mp4' });
  await expect.poll(() => readRejections(source), pollOptions).toHaveLength(1);
  submit(source, { url: '/refused.mp4?cb=2' });
  submit(source, { url: '/fixed.mp4' });
  await waitForCreatives(source);
  expect(countFetches('/refused.mp4')).toBe(1);
  clock.advance(3_600_000);
  origin.serve('/refused.mp4', clip);
  submit(source, { url: '/refused.mp4', creativeKey: 'another' });
  await waitForCreatives(source, 2);
  expect(countFetches('/refused.mp4')).toBe(2);
});

test('an offer with text that the database cannot store is rejected', async () => {
  origin.serve('/fine.mp4', clip);
  const sources = [await makeSource(), await makeSource()];
  for (const [index, source] of sources.entries()) {
    submit(source, { url: '/fine.mp4', creativeKey: ['a\0b', '\ud800'][index] ?? '' });
    submit(source, { url: '/fine.mp4', creativeKey: 'fine' });
  }
  for (const source of sources) expect((await waitForCreatives(source)).source_key).toBe('fine');
});

test('loopback URLs are fetched in development only', async () => {
  const source = await makeSource();
  const { service } = running;
  const requestsBefore = origin.requests.length;
  submit(source, { url: '/meadow.mp4' }, {}, 'live');
  const reasons = () =>
    service.database.query<{ reason: string }>(
      `SELECT after->>'reason' AS reason FROM audit_entries
        WHERE environment = 'live' AND target_id = $1`,
      [source],
    );
  await expect.poll(reasons, pollOptions).toHaveLength(1);
  expect((await reasons())[0]?.reason).toMatch(/must be an https URL/);
  expect(origin.requests.length).toBe(requestsBefore);
});

test('only advertisers whose domain, or a parent domain, is on the source’s list are approved automatically', async () => {
  const source = await makeSource();
  const rules: SourceRules = { review: 'automatic', allowed_domains: ['www.Trusted.example'] };
  origin.serve('/trusted.mp4', clip);
  submit(source, { url: '/trusted.mp4', advertiserDomain: 'trusted.example' }, rules);
  expect((await waitForCreatives(source)).review).toMatchObject({
    status: 'approved',
    reason_code: 'allowed_domain',
    reviewed_by: 'service',
  });
  const domains = ['sub.trusted.example', 'not-trusted.example'];
  for (const domain of domains)
    submit(source, { url: '/trusted.mp4', advertiserDomain: domain, creativeKey: domain }, rules);
  await waitForCreatives(source, 3);
  const statuses = (await readCreatives(source)).map((each) => [
    each.source_key,
    each.review.status,
  ]);
  expect(Object.fromEntries(statuses)).toEqual({
    'ad-id.org 1': 'approved',
    'sub.trusted.example': 'approved',
    'not-trusted.example': 'pending_review',
  });
  // A source with manual review ignores the list.
  const manualSource = await makeSource();
  submit(
    manualSource,
    { url: '/trusted.mp4', advertiserDomain: 'trusted.example' },
    {
      ...rules,
      review: 'manual',
    },
  );
  expect((await waitForCreatives(manualSource)).review).toEqual({ status: 'pending_review' });
});

test('a new icon on an approved creative needs a review, unless the icon was approved before', async () => {
  const source = await makeSource();
  origin.serve('/icon-a.png', picture);
  origin.serve('/icon-a-elsewhere.png', picture);
  origin.serve('/icon-b.png', banner);
  origin.serve('/icon.mp4', clip);
  const icon = (name: string) => ({
    icon: { url: `${origin.url}/${name}`, clickTrackers: [], viewTrackers: [] },
  });
  const countIcons = async (id: string) => (await readCreative(id)).icons?.length ?? 0;
  submit(source, { url: '/icon.mp4', ...icon('icon-a.png') });
  const { id } = await waitForCreatives(source);
  await expect.poll(() => countIcons(id), pollOptions).toBe(1);
  await review(id, 'approved');
  submit(source, { url: '/icon.mp4', ...icon('icon-a-elsewhere.png') });
  await expect.poll(() => countIcons(id), pollOptions).toBe(2);
  expect((await readCreative(id)).review.status).toBe('approved');
  submit(source, { url: '/icon.mp4', ...icon('icon-b.png') });
  await expect.poll(() => countIcons(id), pollOptions).toBe(3);
  expect((await readCreative(id)).review).toEqual({
    status: 'pending_review',
    reason_code: 'new_icon',
  });
});

test('an icon that is not an image is left out', async () => {
  const source = await makeSource();
  origin.serve('/icon.html', '<!doctype html>');
  submit(source, {
    url: '/meadow.mp4',
    icon: { url: `${origin.url}/icon.html`, clickTrackers: [], viewTrackers: [] },
  });
  await expect.poll(() => readRejections(source), pollOptions).toHaveLength(1);
  expect((await readRejections(source))[0]).toMatch(/icon is text\/html/);
  expect((await waitForCreatives(source)).icons).toBeUndefined();
});

test('a source with 200 creatives pending review adds no more', async () => {
  const source = await makeSource();
  origin.serve('/flood.mp4', clip);
  submit(source, { url: '/flood.mp4' });
  const { id } = await waitForCreatives(source);
  await running.service.database.query(
    `INSERT INTO resources (account_id, environment, kind, id, document, revision, created_at, updated_at)
      SELECT account_id, environment, kind, left(id, 20) || lpad(n::text, 10, '0'), document, 1, created_at, updated_at
        FROM resources, generate_series(1, 199) AS n WHERE id = $1`,
    [id],
  );
  const requests = origin.requests.length;
  submit(source, { url: '/flood.mp4', creativeKey: 'one more' });
  await expect.poll(() => readRejections(source), pollOptions).toHaveLength(1);
  expect((await readRejections(source))[0]).toMatch(
    /200 creatives of this source are pending review/,
  );
  expect(origin.requests.length).toBe(requests);
  await running.service.database.query(
    `DELETE FROM resources WHERE document->>'source_id' = $1 AND id <> $2`,
    [source, id],
  );
});

test('operators cannot set the identifying fields of an external creative', async () => {
  const source = await makeSource();
  submit(source, { url: '/meadow.mp4' });
  const { id } = await waitForCreatives(source);
  for (const change of [{ source_key: 'x' }, { origin_url: 'https://a.example' }, { icons: [] }]) {
    const { status } = await client.call('PATCH', `/v1/creatives/${id}`, client.secret, change);
    expect([change, status]).toEqual([change, 422]);
  }
});

/** Advances the timers by a minute. Then the service looks for creatives whose files it should compare. */
const advanceMinute = (): void => void vi.advanceTimersByTime(minuteMs);
const readDueMs = async (creativeId: string): Promise<number | undefined> => {
  const [row] = await running.service.database.query<{ due_at: Date }>(
    'SELECT due_at FROM creative_origins WHERE creative_id = $1',
    [creativeId],
  );
  return row?.due_at.getTime();
};
async function approvedCreative(path: string, rules: SourceRules = {}): Promise<Creative> {
  const source = await makeSource();
  origin.serve(path, clip);
  submit(source, { url: path }, rules);
  const creative = await waitForCreatives(source);
  await review(creative.id, 'approved');
  return creative;
}

test('a creative stays approved if its file has not changed at its origin after a day', async () => {
  const { id } = await approvedCreative('/same.mp4');
  const dueBefore = await readDueMs(id);
  advanceMinute();
  clock.advance(dayMs);
  advanceMinute();
  await expect.poll(() => readDueMs(id), pollOptions).toBe(clock.nowMs() + dayMs);
  expect(dueBefore).toBe(clock.nowMs());
  expect(countFetches('/same.mp4')).toBe(2);
  expect((await readCreative(id)).review.status).toBe('approved');
});

test('a file that changed at its origin returns the creative to review, even for a trusted advertiser', async () => {
  const rules: SourceRules = { review: 'automatic', allowed_domains: ['meadow.example'] };
  const creative = await approvedCreative('/swapped.mp4', rules);
  origin.serve('/swapped.mp4', meadow);
  clock.advance(dayMs);
  advanceMinute();
  const readReviewStatus = async () => (await readCreative(creative.id)).review.status;
  await expect.poll(readReviewStatus, pollOptions).toBe('pending_review');
  const updatedCreative = await readCreative(creative.id);
  expect(updatedCreative.review).toMatchObject({
    reason_code: 'origin_changed',
    feedback: 'The source replaced the file after it was approved.',
  });
  expect(readVideo(updatedCreative).duration_ms).toBe(12_000);
  expect((await download(readVideo(updatedCreative).files[0]?.url)).equals(meadow)).toBe(true);
  // The approved version is kept, so that reviewers can compare it.
  const [entry] = await readAuditEntries(creative.id);
  expect(entry).toMatchObject({ action: 'creative.origin_changed', actor: 'service' });
  const previous = entry?.before as Creative | undefined;
  expect(previous && readVideo(previous)).toEqual(readVideo(creative));
  expect((await download(readVideo(creative).files[0]?.url)).equals(clip)).toBe(true);

  // Once the new file is approved, later files are compared with that one.
  await review(creative.id, 'approved');
  clock.advance(dayMs);
  advanceMinute();
  await expect.poll(() => readDueMs(creative.id), pollOptions).toBe(clock.nowMs() + dayMs);
  expect(await readReviewStatus()).toBe('approved');
  expect(countFetches('/swapped.mp4')).toBe(3);
});

test('if the replacement file is unusable, it is reported once and not copied', async () => {
  const creative = await approvedCreative('/spoiled.mp4');
  origin.serve('/spoiled.mp4', '<!doctype html><script>1</script>');
  clock.advance(dayMs);
  advanceMinute();
  const readReviewStatus = async () => (await readCreative(creative.id)).review.status;
  await expect.poll(readReviewStatus, pollOptions).toBe('pending_review');
  const updatedCreative = await readCreative(creative.id);
  expect(updatedCreative.media).toEqual(creative.media);
  expect(updatedCreative.review.feedback).toMatch(/cannot be shown: The file is text\/html/);
  await review(creative.id, 'approved');
  await expect.poll(() => readDueMs(creative.id), pollOptions).toBe(clock.nowMs() + dayMs);
  clock.advance(dayMs);
  advanceMinute();
  await expect.poll(() => readDueMs(creative.id), pollOptions).toBe(clock.nowMs() + dayMs);
  expect(await readReviewStatus()).toBe('approved');
  expect(countFetches('/spoiled.mp4')).toBe(3);
});

test('our copy stays in use while the file’s origin is unreachable', async () => {
  const creative = await approvedCreative('/gone.mp4');
  origin.serve('/gone.mp4', (_request, response) => response.writeHead(503).end());
  clock.advance(dayMs);
  advanceMinute();
  await expect.poll(() => readDueMs(creative.id), pollOptions).toBe(clock.nowMs() + dayMs);
  expect(countFetches('/gone.mp4')).toBe(2);
  expect((await readCreative(creative.id)).review.status).toBe('approved');
});

test('the file of a paused creative is not fetched, and the file of an archived creative is no longer compared', async () => {
  const rejected = await approvedCreative('/rejected.mp4');
  await review(rejected.id, 'rejected');
  const archived = await approvedCreative('/archived.mp4');
  await client.call('DELETE', `/v1/creatives/${archived.id}`, client.secret);
  clock.advance(dayMs);
  advanceMinute();
  await expect.poll(() => readDueMs(rejected.id), pollOptions).toBe(clock.nowMs() + dayMs);
  await expect.poll(() => readDueMs(archived.id), pollOptions).toBeUndefined();
  expect([countFetches('/rejected.mp4'), countFetches('/archived.mp4')]).toEqual([1, 1]);
});

test('a creative that its source has not offered for 30 days is archived, unless it was rejected', async () => {
  const [unofferedCreative, offeredCreative, rejected] = [
    await approvedCreative('/unoffered.mp4'),
    await approvedCreative('/offered.mp4'),
    await approvedCreative('/unoffered-rejected.mp4'),
  ];
  await review(rejected.id, 'rejected');
  clock.advance(29 * dayMs);
  advanceMinute();
  for (const { id } of [unofferedCreative, offeredCreative, rejected])
    await expect.poll(() => readDueMs(id), pollOptions).toBe(clock.nowMs() + dayMs);
  running.service.intake.noteOffer(createScope('sandbox').accountId, offeredCreative.id);
  advanceMinute();
  const offeredAt = async () =>
    (
      await running.service.database.query<{ offered_at: Date }>(
        'SELECT offered_at FROM creative_origins WHERE creative_id = $1',
        [offeredCreative.id],
      )
    )[0]?.offered_at.getTime();
  await expect.poll(offeredAt, pollOptions).toBe(clock.nowMs());

  clock.advance(2 * dayMs);
  advanceMinute();
  for (const { id } of [offeredCreative, rejected])
    await expect.poll(() => readDueMs(id), pollOptions).toBe(clock.nowMs() + dayMs);
  await expect.poll(() => readDueMs(unofferedCreative.id), pollOptions).toBeUndefined();
  const statuses = [offeredCreative, rejected, unofferedCreative].map(
    async ({ id }) => (await client.call('GET', `/v1/creatives/${id}`, client.secret)).status,
  );
  expect(await Promise.all(statuses)).toEqual([200, 200, 404]);
  const [entry] = await readAuditEntries(unofferedCreative.id);
  expect(entry).toMatchObject({ action: 'creative.archived', actor: 'service' });
});

test('metrics count copied, rejected, replaced and archived creatives', async () => {
  const text = await (await fetch(`${running.url}/metrics`)).text();
  const results = [
    ...text.matchAll(/^trueward_intake_creatives_total\{result="(\w+)"\} [1-9]/gm),
  ].map(([, result = '']) => result);
  expect(results.toSorted()).toEqual([
    'archived',
    'copied',
    'invalid_id',
    'no_room',
    'replaced',
    'too_large',
    'unknown_advertiser',
    'unreachable',
    'unsupported',
  ]);
});
