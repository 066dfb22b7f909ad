import type { Problem, Usage } from '@trueward/protocol/wire';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type QuotaKind, quotaKinds } from '../../src/platform/quota-limits.ts';
import { type InProcessService, startInProcess } from '../in-process.ts';
import { createManualClock } from '../manual-clock.ts';
import { type Client, createClient } from './client.ts';
import { type PanelClient, signInOwner } from './panel-client.ts';

const clock = createManualClock(Date.now());
let running: InProcessService;
let client: Client;
let owner: PanelClient;
let ids: { advertiser: string; source: string; creative: string };
beforeAll(async () => {
  const env = { RATE_LIMITS: 'off', ACCOUNT_QUOTAS: 'users=5, sources=9' };
  running = await startInProcess(env, { clock });
  client = createClient(running);
  owner = await signInOwner(running);
  const first = async (path: string): Promise<string> =>
    (await client.manage<{ data: { id: string }[] }>('GET', path)).data[0]?.id ?? '';
  ids = {
    advertiser: await first('/v1/advertisers'),
    source: await first('/v1/sources'),
    creative: await first('/v1/creatives'),
  };
});
afterAll(() => running.stop());

/** Two seconds later, the route reads again. */
const readUsage = async (kind: QuotaKind): Promise<{ used: number; limit: number }> => {
  clock.advance(2_000);
  const { data } = await client.manage<Usage>('GET', '/v1/usage');
  return data.find((usage) => usage.kind === kind) ?? { used: -1, limit: -1 };
};
const setLimit = (kind: QuotaKind, limit: number | undefined): void => {
  if (limit === undefined) delete running.config.quotas[kind];
  else running.config.quotas[kind] = limit;
};

const image = (n: number) => ({
  name: `c${n}`,
  advertiser_id: ids.advertiser,
  source_id: ids.source,
  media: {
    format: 'image',
    files: [{ url: 'https://ads.example/a.png', mime: 'image/png', width: 640, height: 360 }],
  },
  alt: 'An ad.',
});
const policy = (n: number, domains = 1) => ({
  name: `p${n}`,
  kind: 'policy',
  block: { domains: Array.from({ length: domains }, (_, index) => `a${index}.example`) },
});
/** A PNG of almost 2 MiB whose content depends on `n`. */
const png = (n: number): Blob => {
  const header = Buffer.from(
    '89504e470d0a1a0a0000000d4948445200000001000000010804000000b51c0c02',
    'hex',
  );
  const size = 2 * 1_048_576 - 1_000;
  const chunk = Buffer.alloc(size + 12, n);
  chunk.writeUInt32BE(size, 0);
  chunk.write('teXt', 4, 'latin1');
  const end = Buffer.from('0000000049454e44ae426082', 'hex');
  return new Blob([header, chunk, end]);
};

type Attempt = (n: number) => Promise<{ status: number; body: Problem }>;
const post =
  (path: string, body: (n: number) => object): Attempt =>
  (n) =>
    client.call<Problem>('POST', path, client.secret, body(n));

/** How to store one more object of each kind. */
const attempts: Record<Exclude<QuotaKind, 'configuration_kb'>, Attempt> = {
  placements: post('/v1/placements', (n) => ({ name: `p${n}`, format: 'interstitial' })),
  sources: post('/v1/sources', (n) => ({ name: `s${n}`, kind: 'house' })),
  advertisers: post('/v1/advertisers', (n) => ({ name: `a${n}`, domain: `a${n}.example` })),
  creatives: post('/v1/creatives', image),
  house_ads: post('/v1/house-ads', (n) => ({
    name: `h${n}`,
    creative_id: ids.creative,
    placements: ['revive'],
  })),
  policies: post('/v1/policies', policy),
  ad_rules: post('/v1/ad-rules', (n) => ({ formats: ['interstitial'], gap_s: n + 1 })),
  kill_switches: post('/v1/kill-switches', () => ({
    scope: 'placement',
    target_id: 'lobby',
    state: 'off',
  })),
  webhooks: post('/v1/webhooks', () => ({
    url: 'https://game.example/',
    events: ['decision.served'],
  })),
  keys: post('/v1/keys', () => ({ kind: 'secret' })),
  user_token_secrets: post('/v1/user_token_secrets', () => ({ overlap_s: 60 })),
  users: (n) =>
    owner.send('POST', '/panel/api/users', {
      email: `u${n}@example.com`,
      name: 'U',
      role: 'viewer',
    }),
  media_mb: (n) =>
    owner.send('POST', '/panel/api/media?name=a.png', png(n), {
      'content-type': 'application/octet-stream',
    }),
};

test('every kind of stored object has a limit, on both sides of which the service does what it says', async () => {
  expect([...Object.keys(attempts), 'configuration_kb'].toSorted()).toEqual(quotaKinds.toSorted());
  expect([await readUsage('users'), await readUsage('sources')]).toMatchObject([
    { used: 1, limit: 5 },
    { limit: 9 },
  ]);
  for (const [kind, attempt] of Object.entries(attempts) as [QuotaKind, Attempt][]) {
    // The first one shows how much an object adds.
    const before = await readUsage(kind);
    const created = await attempt(1);
    expect([kind, created.status, created.body]).toEqual([kind, 201, expect.anything()]);
    const { used } = await readUsage(kind);
    const added = used - before.used;
    expect([kind, added > 0]).toEqual([kind, true]);
    setLimit(kind, used + added);
    expect([kind, (await attempt(2)).status]).toEqual([kind, 201]);
    const refused = await attempt(3);
    expect([kind, refused.status, refused.body.code]).toEqual([kind, 409, 'quota_exceeded']);
    expect(refused.body.detail).toContain(`its limit is ${used + added}`);
    expect(await readUsage(kind)).toEqual({ kind, used: used + added, limit: used + added });
    setLimit(kind, undefined);
  }
});

test('a file that the account already stores needs no room', async () => {
  setLimit('media_mb', 0);
  expect((await attempts.media_mb(1)).status).toBe(201);
  expect((await attempts.media_mb(9)).status).toBe(409);
  setLimit('media_mb', undefined);
});

test('the size of the configuration is limited, but changes have a reserve, and kill switches no limit', async () => {
  const { id } = await client.manage<{ id: string }>('POST', '/v1/policies', policy(8));
  for (let n = 0; n < 5; n += 1) await client.manage('POST', '/v1/policies', policy(n, 500));
  const { used } = await readUsage('configuration_kb');
  setLimit('configuration_kb', used + 2);
  const create = (domains: number) =>
    client.call<Problem>('POST', '/v1/policies', client.secret, policy(9, domains));
  expect((await create(400)).body.code).toBe('quota_exceeded');
  const grow = (domains: number) =>
    client.call<Problem>('PATCH', `/v1/policies/${id}`, client.secret, {
      block: policy(8, domains).block,
    });
  expect((await grow(400)).status).toBe(200);
  setLimit('configuration_kb', 1);
  expect((await grow(401)).body.code).toBe('quota_exceeded');
  expect((await grow(1)).status).toBe(200);
  expect((await attempts.kill_switches(4)).status).toBe(201);
  setLimit('configuration_kb', undefined);
});

test('a leaked key can be rolled at the limit, and expired secrets make room', async () => {
  const key = await client.manage<{ id: string }>('POST', '/v1/keys', { kind: 'secret' });
  setLimit('keys', (await readUsage('keys')).used);
  const roll = await client.call<Problem>('POST', `/v1/keys/${key.id}/roll`, client.secret, {});
  expect(roll.status).toBe(201);
  expect((await attempts.keys(5)).status).toBe(409);
  setLimit('keys', undefined);

  setLimit('user_token_secrets', (await readUsage('user_token_secrets')).used);
  expect((await attempts.user_token_secrets(6)).status).toBe(409);
  const replace = post('/v1/user_token_secrets', () => ({ overlap_s: 0 }));
  expect([(await replace(0)).status, (await replace(1)).status]).toEqual([201, 201]);
  expect((await readUsage('user_token_secrets')).used).toBe(1);
  setLimit('user_token_secrets', undefined);
});

test('what one account stores does not count for another', async () => {
  const live = createClient(running, 'live');
  const { data } = await live.manage<Usage>('GET', '/v1/usage');
  expect(data.find(({ kind }) => kind === 'users')?.used).toBe((await readUsage('users')).used);
});
