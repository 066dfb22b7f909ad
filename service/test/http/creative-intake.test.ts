import type { RequestListener } from 'node:http';
import type { Advertiser, Decision } from '@trueward/protocol/wire';
import { expect, test } from 'vitest';
import {
  IntakeSetup,
  banner,
  clip,
  hevc,
  meadow,
  meadowWebm,
  picture,
  pollOptions,
  readVideo,
  type OfferInput,
} from './intake-setup.ts';
import type { MediaOrigin } from './media-origin.ts';

const intake = new IntakeSetup();
const readRejections = async (sourceId: string): Promise<unknown[]> =>
  (await intake.readAuditEntries(sourceId))
    .filter(({ action }) => action === 'creative.refused')
    .map(({ after }) => after?.['reason']);

test('an offered ad becomes a creative that is pending review, and its media is copied', async () => {
  const source = await intake.createSource();
  intake.origin.serve('/meadow.mp4', meadow);
  intake.origin.serve('/meadow.vtt', 'WEBVTT\n\n00:00.000 --> 00:01.000\nHello');
  intake.origin.serve('/broken.vtt', '<html>');
  intake.origin.serve('/choices.png', picture);
  intake.submit(source, {
    url: '/meadow.mp4?cb=1',
    advertiserDomain: 'fresh.example',
    advertiserName: 'Fresh\n Fields',
    clickUrl: 'https://fresh.example/spring',
    categories: ['IAB1-1', 'IAB1-1', 'not a category'],
    captions: [
      { url: `${intake.origin.url}/meadow.vtt`, language: 'fr' },
      { url: `${intake.origin.url}/broken.vtt`, language: 'de' },
      { url: `${intake.origin.url}/missing.vtt`, language: 'es' },
    ],
    icon: { url: `${intake.origin.url}/choices.png?cb=2`, clickTrackers: [], viewTrackers: [] },
  });
  await expect
    .poll(
      async () => (await intake.readCreatives(source)).map(({ icons }) => icons?.length),
      pollOptions,
    )
    .toEqual([1]);
  const creative = await intake.waitForCreatives(source);
  expect(creative).toMatchObject({
    name: 'Fresh Fields: ad-id.org 1',
    source_key: 'ad-id.org 1',
    origin_url: `${intake.origin.url}/meadow.mp4?cb=1`,
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
    icons: [{ origin_url: `${intake.origin.url}/choices.png` }],
  });
  const { files, captions } = readVideo(creative);
  expect(files[0]?.url).toMatch(/\/media\/[0-9a-f]{64}\.mp4$/);
  expect((await intake.download(files[0]?.url)).equals(meadow)).toBe(true);
  expect((await intake.download(captions?.[0]?.url)).toString()).toMatch(/^WEBVTT/);
  expect((await intake.download(creative.icons?.[0]?.url)).equals(picture)).toBe(true);
  const advertiser = await intake.get<Advertiser>(`/v1/advertisers/${creative.advertiser_id}`);
  expect(advertiser).toMatchObject({ name: 'Fresh Fields', domain: 'fresh.example' });
  for (const { id, kind } of [
    { id: creative.id, kind: 'creative' },
    { id: advertiser.id, kind: 'advertiser' },
  ]) {
    const entry = (await intake.readAuditEntries(id)).find(
      ({ action }) => action === `${kind}.created`,
    );
    expect(entry?.actor).toBe('service');
  }
});

test('an ad that is offered repeatedly is copied only once', async () => {
  const source = await intake.createSource();
  intake.origin.serve('/once.mp4', clip);
  for (let n = 0; n < 50; n += 1) intake.submit(source, { url: `/once.mp4?cb=${n}` });
  const { id } = await intake.waitForCreatives(source);
  intake.submit(source, { url: '/once.mp4?cb=last' });
  // A source's jobs run in order, so this one finishes last.
  intake.submit(source, { url: '/once.mp4', creativeKey: 'other' });
  await intake.waitForCreatives(source, 2);
  expect(intake.countFetches('/once.mp4')).toBe(2);
  expect((await intake.readCreatives(source)).map((creative) => creative.id)).toContain(id);
});

test('an existing advertiser with an equivalent domain is reused', async () => {
  const source = await intake.createSource();
  const { id } = await intake.post<Advertiser>('/v1/advertisers', {
    name: 'Known',
    domain: 'WWW.Known.example',
  });
  intake.origin.serve('/known.mp4', clip);
  intake.submit(source, { url: '/known.mp4', advertiserDomain: 'known.example' });
  expect((await intake.waitForCreatives(source)).advertiser_id).toBe(id);
});

test('the required watch time comes from the probed duration, not the declared one', async () => {
  const source = await intake.createSource();
  intake.origin.serve('/short.mp4', meadow);
  intake.submit(source, { url: '/short.mp4', declaredMs: 2_000 });
  const creative = await intake.waitForCreatives(source);
  expect(readVideo(creative).duration_ms).toBe(12_000);
  await intake.review(creative.id, 'approved');
  const placement = await intake.post<{ name: string }>('/v1/placements', {
    name: 'probed',
    format: 'rewarded',
    reward: { type: 'coins', amount: 1 },
  });
  await intake.post('/v1/house-ads', {
    name: 'Probed',
    creative_id: creative.id,
    placements: [placement.name],
  });
  const { body } = await intake.client.call<Decision>(
    'POST',
    '/v1/decisions',
    intake.client.publishable,
    {
      placement: placement.name,
      user_ref: 'player',
    },
  );
  expect(body).toMatchObject({ status: 'filled', min_watch_ms: 12_000 });
});

test('a WebM file declared as MP4 is stored as WebM', async () => {
  const source = await intake.createSource();
  intake.origin.serve('/really.webm', meadowWebm);
  intake.submit(source, { url: '/really.webm', mime: 'video/mp4' });
  expect(readVideo(await intake.waitForCreatives(source)).files[0]?.mime).toMatch(
    /^video\/webm; codecs="vp0?9/,
  );
});

const redirectTo =
  (location: string): RequestListener =>
  (_request, response) =>
    void response.writeHead(302, { location }).end();

test.each<[string, RegExp, Parameters<MediaOrigin['serve']>[1], Partial<OfferInput>?]>([
  ['HTML labeled as MP4', /is text\/html; expected an MP4/, '<!doctype html><script>1</script>'],
  ['HEVC labeled as MP4', /hev1\S+ codec, which not all browsers support/, hevc],
  ['an image labeled as MP4', /is image\/png; expected an MP4/, picture],
  ['a truncated MP4', /truncated/, meadow.subarray(0, 100_000)],
  ['an empty file', /is not MP4/, ''],
  ['a missing file', /responded 404/, redirectTo('/nowhere')],
  [
    'a body that never ends',
    /larger than 20971520 bytes/,
    (_request, response) => {
      const writeMore = (): void => {
        while (!response.destroyed && response.write(Buffer.alloc(65_536)));
        if (!response.destroyed) response.once('drain', writeMore);
      };
      writeMore();
    },
  ],
  [
    'a declared length over the limit',
    /larger than 20971520 bytes/,
    (_request, response) => {
      response.writeHead(200, { 'content-length': 10 ** 12 });
      response.write('a');
    },
  ],
  [
    'a redirect to a private IP',
    /10\.0\.0\.7.* must be on the public internet/,
    redirectTo('https://10.0.0.7/ad.mp4'),
  ],
  [
    'a redirect to cloud metadata',
    /169\.254.* must be an https URL/,
    redirectTo('http://169.254.169.254/latest'),
  ],
  ['a redirect to itself', /redirects more than 3 times/, redirectTo('/refused-8')],
  ['a redirect to a javascript: URL', /which is not a web URL/, redirectTo('javascript:alert(1)')],
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
    'an id with 1,000 characters',
    /1 to 500 characters/,
    meadow,
    { creativeKey: 'a'.repeat(1_000) },
  ],
])('%s is rejected with a reason in the audit log', async (name, reason, response, input = {}) => {
  const source = await intake.createSource();
  const path = name === 'a redirect to itself' ? '/refused-8' : `/refused-${source}`;
  intake.origin.serve(path, response);
  intake.submit(source, { url: path, ...input });
  await expect.poll(() => readRejections(source), pollOptions).toHaveLength(1);
  expect((await readRejections(source))[0]).toMatch(reason);
  expect(await intake.readCreatives(source)).toEqual([]);
});

test('a rejected file is not fetched again for an hour', async () => {
  const source = await intake.createSource();
  intake.origin.serve('/refused.mp4', '<!doctype html>');
  intake.origin.serve('/fixed.mp4', clip);
  intake.submit(source, { url: '/refused.mp4' });
  await expect.poll(() => readRejections(source), pollOptions).toHaveLength(1);
  intake.submit(source, { url: '/refused.mp4?cb=2' });
  intake.submit(source, { url: '/fixed.mp4' });
  await intake.waitForCreatives(source);
  expect(intake.countFetches('/refused.mp4')).toBe(1);
  intake.clock.advance(3_600_000);
  intake.origin.serve('/refused.mp4', clip);
  intake.submit(source, { url: '/refused.mp4', creativeKey: 'another' });
  await intake.waitForCreatives(source, 2);
  expect(intake.countFetches('/refused.mp4')).toBe(2);
});

test('an offer with text that the database cannot store is rejected', async () => {
  intake.origin.serve('/fine.mp4', clip);
  const sources = [await intake.createSource(), await intake.createSource()];
  for (const [index, source] of sources.entries()) {
    intake.submit(source, { url: '/fine.mp4', creativeKey: ['a\0b', '\ud800'][index] ?? '' });
    intake.submit(source, { url: '/fine.mp4', creativeKey: 'fine' });
  }
  for (const source of sources)
    expect((await intake.waitForCreatives(source)).source_key).toBe('fine');
});

test('loopback URLs are fetched only for the sandbox', async () => {
  const source = await intake.createSource();
  const { service } = intake.runningService;
  const requestsBefore = intake.origin.requests.length;
  intake.submit(source, { url: '/meadow.mp4' }, 'live');
  const reasons = () =>
    service.database.query<{ reason: string }>(
      `SELECT after->>'reason' AS reason FROM audit_entries
        WHERE environment = 'live' AND target_id = $1`,
      [source],
    );
  await expect.poll(reasons, pollOptions).toHaveLength(1);
  expect((await reasons())[0]?.reason).toMatch(/must be an https URL/);
  expect(intake.origin.requests.length).toBe(requestsBefore);
});

test('creatives from advertisers with an allowed domain are approved automatically', async () => {
  // The service stores the domain without `www.`.
  const allowed = { allowed_domains: ['www.Trusted.example'] };
  const source = await intake.createSource({ review: 'automatic', ...allowed });
  intake.origin.serve('/trusted.mp4', clip);
  intake.submit(source, { url: '/trusted.mp4', advertiserDomain: 'trusted.example' });
  expect((await intake.waitForCreatives(source)).review).toMatchObject({
    status: 'approved',
    reason_code: 'allowed_domain',
    reviewed_by: 'service',
  });
  const domains = ['sub.trusted.example', 'not-trusted.example'];
  for (const domain of domains)
    intake.submit(source, { url: '/trusted.mp4', advertiserDomain: domain, creativeKey: domain });
  await intake.waitForCreatives(source, 3);
  const statuses = (await intake.readCreatives(source)).map((creative) => [
    creative.source_key,
    creative.review.status,
  ]);
  expect(Object.fromEntries(statuses)).toEqual({
    'ad-id.org 1': 'approved',
    'sub.trusted.example': 'approved',
    'not-trusted.example': 'pending_review',
  });
  // With manual review, the source's list of allowed domains is ignored.
  const manualSource = await intake.createSource({ review: 'manual', ...allowed });
  intake.submit(manualSource, { url: '/trusted.mp4', advertiserDomain: 'trusted.example' });
  expect((await intake.waitForCreatives(manualSource)).review).toEqual({
    status: 'pending_review',
  });
});

test('a new icon on an approved creative needs review unless the same image was approved before', async () => {
  const source = await intake.createSource();
  intake.origin.serve('/icon-a.png', picture);
  intake.origin.serve('/icon-a-elsewhere.png', picture);
  intake.origin.serve('/icon-b.png', banner);
  intake.origin.serve('/icon.mp4', clip);
  const icon = (name: string) => ({
    icon: { url: `${intake.origin.url}/${name}`, clickTrackers: [], viewTrackers: [] },
  });
  const countIcons = async (id: string) => (await intake.readCreative(id)).icons?.length ?? 0;
  intake.submit(source, { url: '/icon.mp4', ...icon('icon-a.png') });
  const { id } = await intake.waitForCreatives(source);
  await expect.poll(() => countIcons(id), pollOptions).toBe(1);
  await intake.review(id, 'approved');
  intake.submit(source, { url: '/icon.mp4', ...icon('icon-a-elsewhere.png') });
  await expect.poll(() => countIcons(id), pollOptions).toBe(2);
  expect((await intake.readCreative(id)).review.status).toBe('approved');
  intake.submit(source, { url: '/icon.mp4', ...icon('icon-b.png') });
  await expect.poll(() => countIcons(id), pollOptions).toBe(3);
  expect((await intake.readCreative(id)).review).toEqual({
    status: 'pending_review',
    reason_code: 'new_icon',
  });
});

test('an icon that is not an image is ignored', async () => {
  const source = await intake.createSource();
  intake.origin.serve('/icon.html', '<!doctype html>');
  intake.submit(source, {
    url: '/meadow.mp4',
    icon: { url: `${intake.origin.url}/icon.html`, clickTrackers: [], viewTrackers: [] },
  });
  await expect.poll(() => readRejections(source), pollOptions).toHaveLength(1);
  expect((await readRejections(source))[0]).toMatch(/icon is text\/html/);
  expect((await intake.waitForCreatives(source)).icons).toBeUndefined();
});

test('a source cannot have more than 200 creatives pending review', async () => {
  const source = await intake.createSource();
  intake.origin.serve('/flood.mp4', clip);
  intake.submit(source, { url: '/flood.mp4' });
  const { id } = await intake.waitForCreatives(source);
  await intake.runningService.service.database.query(
    `INSERT INTO resources (account_id, environment, kind, id, document, revision, created_at, updated_at)
      SELECT account_id, environment, kind, left(id, 20) || lpad(n::text, 10, '0'), document, 1, created_at, updated_at
        FROM resources, generate_series(1, 199) AS n WHERE id = $1`,
    [id],
  );
  const requests = intake.origin.requests.length;
  intake.submit(source, { url: '/flood.mp4', creativeKey: 'one more' });
  await expect.poll(() => readRejections(source), pollOptions).toHaveLength(1);
  expect((await readRejections(source))[0]).toMatch(
    /200 creatives from this source are pending review/,
  );
  expect(intake.origin.requests.length).toBe(requests);
  await intake.runningService.service.database.query(
    `DELETE FROM resources WHERE document->>'source_id' = $1 AND id <> $2`,
    [source, id],
  );
});

test('operators cannot change the service-managed fields of an external creative', async () => {
  const source = await intake.createSource();
  intake.submit(source, { url: '/meadow.mp4' });
  const { id } = await intake.waitForCreatives(source);
  for (const change of [{ source_key: 'x' }, { origin_url: 'https://a.example' }, { icons: [] }]) {
    const { status } = await intake.client.call(
      'PATCH',
      `/v1/creatives/${id}`,
      intake.client.secret,
      change,
    );
    expect([change, status]).toEqual([change, 422]);
  }
});

test('metrics count copied and rejected creatives', async () => {
  expect(await intake.readMetricResults()).toEqual([
    'copied',
    'invalid_id',
    'no_room',
    'too_large',
    'unknown_advertiser',
    'unreachable',
    'unsupported',
  ]);
});
