import type { Decision, Placement, Source } from '@trueward/protocol/wire';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { verifyReceipt } from '../../../src/server/index.ts';
import { type FilledDecision, type Game, startGame } from './reward-game.ts';
import { readAccountId, turnOnKillSwitch, updatePlacement } from './reward-operator.ts';

// Ads that an ad SDK in the page chooses and shows. The service decides whose turn it is, and sees nothing of the ad.

let game: Game;
let source: Source;
const createPageSource = (members: Partial<Source> = {}): Promise<Source> =>
  game.client.manage<Source>('POST', '/v1/sources', {
    name: 'Google',
    kind: 'page',
    adapter: 'google_h5',
    placements: ['revive', 'level-end'],
    priority: 1,
    ...members,
  });
const change = (members: Partial<Source>): Promise<Source> =>
  game.client.manage<Source>('PATCH', `/v1/sources/${source.id}`, members);
const pay = (members: { [K in keyof Placement]?: Placement[K] | undefined } = {}): Promise<void> =>
  updatePlacement(game, 'revive', {
    page_rewards: 'client_attested',
    page_reward_cap: undefined,
    ...members,
  });

beforeAll(async () => {
  game = await startGame();
  source = await createPageSource();
  await pay();
});
afterAll(() => game.stop());
afterEach(() => pay());

let playerCount = 0;
const newPlayer = (): string => `page player ${(playerCount += 1)}`;
const ready = { page_adapters: ['google_h5'] };
const request = async (more: object = ready): Promise<FilledDecision> =>
  (await game.requestDecision({ user_ref: newPlayer(), ...more })).body;
const findVerdict = ({ explain = [] }: Decision): string | undefined =>
  explain.find(({ source_id: id }) => id === source.id)?.verdict;
const isInPage = ({ creative }: Decision): boolean => creative?.media.format === 'page';

/** Lets the page's ad SDK show its ad, as the client reports it. */
async function showInPage(decision: FilledDecision, ms = 20_000) {
  await game.report(game.createEvent(decision, 'start'));
  game.advance(ms);
  return (await game.report(game.createEvent(decision, 'complete'))).decisions[0];
}

test('a decision is filled by the page’s ad SDK, with the placement’s reward', async () => {
  const decision = await request();
  expect(decision).toMatchObject({
    status: 'filled',
    creative: { media: { format: 'page', adapter: 'google_h5' } },
    reward: { type: 'coins', amount: 25 },
  });
  expect(decision.creative?.id).toBeUndefined();
  expect(decision.min_watch_ms).toBeUndefined();
  const level = await request({ placement: 'level-end', ...ready });
  expect([isInPage(level), level.reward]).toEqual([true, undefined]);
});

/** Why the page's ad SDK doesn't get its turn, and what is changed for it. */
const refusals: [string, string, () => Promise<() => unknown>, object?][] = [
  [
    'is not ready in the page',
    'not_ready_in_page',
    async () => () => {},
    { page_adapters: undefined },
  ],
  [
    'is another one',
    'not_ready_in_page',
    async () => () => {},
    { page_adapters: ['custom:network'] },
  ],
  [
    'would earn nothing',
    'refused: page rewards are none',
    async () => {
      await pay({ page_rewards: undefined });
      return pay;
    },
  ],
  [
    'may not be asked for children',
    'refused: not for child-directed requests',
    async () => () => {},
    { child_directed: true },
  ],
  ['is blocked by a policy', 'commercial: No network', () => addPolicy({ sources: [source.id] })],
  [
    'can’t be checked against a policy',
    'commercial: No network',
    () => addPolicy({ domains: ['rival.example'] }),
  ],
  [
    'has a lower priority than a house ad',
    undefined as never,
    async () => {
      await change({ priority: 10 });
      return () => change({ priority: 1 });
    },
  ],
  [
    'is paused',
    undefined as never,
    async () => {
      await change({ status: 'paused' });
      return () => change({ status: 'active' });
    },
  ],
];

async function addPolicy(block: object): Promise<() => unknown> {
  const { id } = await game.client.manage<{ id: string }>('POST', '/v1/policies', {
    name: 'No network',
    kind: 'commercial',
    placements: ['revive'],
    when: {},
    block,
    status: 'active',
  });
  return () => game.client.manage('DELETE', `/v1/policies/${id}`);
}

test.each(refusals)(
  'a house ad is shown if the ad SDK %s',
  async (_case, verdict, prepare, more) => {
    const undo = await prepare();
    try {
      const decision = await request({ ...ready, ...more });
      expect([decision.status, isInPage(decision)]).toEqual(['filled', false]);
      expect(findVerdict(decision)).toBe(verdict);
      // It owes nobody a notice, so nothing is stored about sources.
      const stored = await game.service.database.query(
        'SELECT demand FROM decision_demand WHERE decision_id = $1',
        [decision.id],
      );
      expect(stored).toEqual([]);
    } finally {
      await undo();
    }
  },
);

test('the client’s word is written on the reward, wherever it is read', async () => {
  const [served, impressions] = [
    await game.readReportCount('source_wins'),
    await game.readReportCount('impressions'),
  ];
  const decision = await request();
  const status = await showInPage(decision);
  expect(status).toMatchObject({ state: 'earned', evidence: 'client_attested' });
  expect(await game.readRewardStatus(decision.id)).toMatchObject({ evidence: 'client_attested' });
  const options = {
    accountId: await readAccountId(game),
    environment: 'sandbox',
    issuer: 'http://service.test',
    now: game.clock.nowMs,
  } as const;
  const [receipt, keys] = [status?.receipt ?? '', `${game.url}/.well-known/jwks.json`];
  await expect(verifyReceipt(receipt, keys, options)).rejects.toThrow(/client_attested/);
  expect(
    await verifyReceipt(receipt, keys, { ...options, acceptEvidence: ['client_attested'] }),
  ).toMatchObject({ evidence: 'client_attested' });
  const [event] = await game.service.database.query<{ body: string }>(
    `SELECT body FROM webhook_events WHERE type = 'decision.rewarded' AND body LIKE '%' || $1 || '%'`,
    [decision.id],
  );
  expect(event?.body).toContain('client_attested');
  // Nothing is verified, so no impression is claimed.
  expect(await game.countWebhookEvents('decision.served', decision.id)).toBe(0);
  expect(await game.readReportCount('impressions')).toBe(impressions);
  expect(await game.readReportCount('source_wins')).toBe(served + 1);
});

test('a view of an ad that has expired earns nothing', async () => {
  const [late, silent] = [await request(), await request()];
  game.advance(960_001);
  expect(await showInPage(late)).toMatchObject({ state: 'pending', reason: 'no_impression' });
  const { decisions } = await game.report(game.createEvent(silent, 'complete'));
  expect(decisions[0]).toMatchObject({ state: 'pending', reason: 'no_impression' });
});

test('an ad SDK that does not say when its ad begins can earn a reward', async () => {
  const decision = await request();
  game.advance(900_000);
  const { decisions } = await game.report(game.createEvent(decision, 'complete'));
  expect(decisions[0]).toMatchObject({ state: 'earned', evidence: 'client_attested' });
});

test('a reported impression proves nothing', async () => {
  const decision = await request();
  game.advance(5_000);
  await game.report(game.createImpression(decision));
  expect(await game.countWebhookEvents('decision.served', decision.id)).toBe(0);
  expect(await game.readRewardStatus(decision.id)).toMatchObject({ state: 'none' });
});

test('the limits of page rewards hold for decisions and for rewards', async () => {
  await pay({ page_reward_cap: { max: 2, per_s: 3_600 } });
  const player = { user_ref: newPlayer(), ...ready };
  // Decisions that were requested ahead don't evade the cap.
  const decisions = [await request(player), await request(player), await request(player)];
  const states = [];
  for (const decision of decisions) states.push((await showInPage(decision))?.state);
  expect(states).toEqual(['earned', 'earned', 'pending']);
  const next = await request(player);
  expect([isInPage(next), findVerdict(next)]).toEqual([false, 'page_cap']);
  // The service's own ads are not affected.
  expect(await game.watch(next)).toMatchObject({ state: 'earned', evidence: 'verified' });
  game.advance(3_600_000);
  expect(isInPage(await request(player))).toBe(true);
});

test('the limit of page rewards holds within one batch, and counts only ads in the page', async () => {
  await pay({ page_reward_cap: { max: 1, per_s: 3_600 } });
  const player = { user_ref: newPlayer() };
  // In this order, because their ids contain the time.
  const requestNext = (more: object) => {
    game.advance(1);
    return request({ ...player, ...more });
  };
  const own = await requestNext({ page_adapters: undefined });
  const first = await requestNext(ready);
  const second = await requestNext(ready);
  expect([own, first, second].map(isInPage)).toEqual([false, true, true]);
  for (const decision of [own, first, second])
    await game.report(game.createEvent(decision, 'start'));
  game.advance(20_000);
  const { decisions } = await game.report(
    game.createImpression(own),
    game.createCompletion(own),
    ...[first, second].map((decision) => game.createEvent(decision, 'complete')),
  );
  const stateOf = ({ id }: Decision) => decisions.find((other) => other.id === id)?.state;
  expect([own, first, second].map(stateOf)).toEqual(['earned', 'earned', 'pending']);
});

test('the default limit of page rewards holds for ads of a placement that has been archived', async () => {
  const { client } = game;
  const placement = await client.manage<Placement>('POST', '/v1/placements', {
    name: 'event',
    format: 'rewarded',
    reward: { type: 'coins', amount: 1 },
    cooldown_s: 0,
    page_rewards: 'client_attested',
  });
  const { id } = await createPageSource({ placements: ['event'] });
  const player = { user_ref: newPlayer(), placement: 'event', ...ready };
  const decisions = [];
  for (let count = 0; count < 7; count += 1) decisions.push(await request(player));
  await client.manage('DELETE', `/v1/sources/${id}`);
  await client.manage('DELETE', `/v1/placements/${placement.id}`);
  const states = [];
  for (const decision of decisions) states.push((await showInPage(decision))?.state);
  expect(states).toEqual([...Array<string>(5).fill('earned'), 'pending', 'pending']);
});

test('the placement’s own limits count the page’s ads too', async () => {
  await pay({ cooldown_s: 60 });
  const player = { user_ref: newPlayer(), ...ready };
  await showInPage(await request(player));
  expect(await request(player)).toMatchObject({ status: 'no_fill', reason: 'cooldown' });
  await pay({ cooldown_s: 0 });
});

test('a kill switch stops an ad that has been decided', async () => {
  const decision = await request();
  const turnOff = await turnOnKillSwitch(game, 'revive');
  expect(await showInPage(decision)).toMatchObject({ state: 'denied', reason: 'killed' });
  await turnOff();
});

test.each([
  [{ adapter: undefined }, '/adapter'],
  [{ adapter: 'adsense' }, '/adapter'],
  [{ adapter: 'custom:' }, '/adapter'],
  [{ tag_url: 'https://network.example/tag' }, '/tag_url'],
  [{ kind: 'house', placements: undefined, priority: undefined }, '/adapter'],
] as const)('a page source is refused with %o', async (members, pointer) => {
  const { adapter = 'google_h5' } = members as Partial<Source>;
  const body = { name: 'Wrong', kind: 'page', adapter, ...members };
  const { status, body: problem } = await game.client.call<{ errors?: { pointer: string }[] }>(
    'POST',
    '/v1/sources',
    game.client.secret,
    body,
  );
  expect([status, problem.errors?.map((error) => error.pointer)]).toEqual([422, [pointer]]);
});
