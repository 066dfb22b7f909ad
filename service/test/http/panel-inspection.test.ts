import type {
  AdRule,
  Decision,
  Delivery,
  Explanation,
  Policy,
  Problem,
} from '@trueward/protocol/wire';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type InProcessService, startInProcess } from '../in-process.ts';
import { createManualClock } from '../manual-clock.ts';
import { type Client, createClient } from './client.ts';
import { createPanelClient, type PanelClient, signInAs, signInOwner } from './panel-client.ts';

let runningService: InProcessService;
let game: Client;
let panel: PanelClient;
const clock = createManualClock(Date.now());
beforeAll(async () => {
  runningService = await startInProcess({ RATE_LIMITS: 'off' }, { clock });
  game = createClient(runningService);
  panel = await signInOwner(runningService);
});
afterAll(() => runningService.stop());

interface Inspection {
  decision: { id: string; status: string; reason?: string; user_ref?: string };
  explain?: Explanation[];
  cause?: { type: string; id: string; actor?: string; text?: string; since?: string };
  events: { type: string; watched_ms?: number; visible?: object }[];
  reward: { state: string; reward?: object; reasons: string[] };
  deliveries: Delivery[];
}
const inspect = (id: string) => panel.send<Inspection>('GET', `/panel/api/decisions/${id}`);

test("the inspector shows a decision's explanation, events, reward and deliveries", async () => {
  await panel.send('POST', '/v1/webhooks', {
    url: 'http://127.0.0.1:9/hook',
    events: ['decision.served', 'decision.rewarded'],
  });
  const decision = await game.decideImage('player');
  await game.reportStart(decision);
  clock.set(clock.nowMs() + 6_000);
  await game.report(
    game.createImpression(decision),
    game.createEvent(decision, 'complete', { watched_ms: 5_500 }),
  );

  const { body } = await inspect(decision.id);
  expect(body.decision).toMatchObject({ id: decision.id, status: 'filled', user_ref: 'player' });
  expect(body.explain).toEqual(decision.explain);
  expect(body.explain?.map(({ verdict }) => verdict)).toContain('chosen');
  expect(body.events.map(({ type }) => type)).toEqual(
    expect.arrayContaining(['start', 'impression', 'complete']),
  );
  expect(body.events).toContainEqual(expect.objectContaining({ visible: { ratio: 1, ms: 1_000 } }));
  expect(body.reward).toMatchObject({ state: 'earned', reward: { type: 'coins', amount: 25 } });
  expect(body.reward.reasons).toContain('Required watch time: 5.0 s; reported: 5.5 s.');
  expect(body.deliveries.map(({ event_type }) => event_type).toSorted()).toEqual([
    'decision.rewarded',
    'decision.served',
  ]);
});

interface Page {
  data: { id: string; placement: string; reward_state: string; status: string }[];
  has_more: boolean;
  next_cursor?: string;
}

test('decisions are found by player, placement, state and time', async () => {
  const fromMs = clock.nowMs();
  const search = async (query: string): Promise<Page> =>
    (await panel.send<Page>('GET', `/panel/api/decisions?limit=3&${query}`)).body;
  /** Reads all pages of a search. */
  const find = async (query: string): Promise<string[]> => {
    const ids: string[] = [];
    let cursor = '';
    for (;;) {
      const page = await search(`${query}${cursor}`);
      ids.push(...page.data.map(({ id }) => id));
      if (page.next_cursor === undefined) return ids;
      cursor = `&starting_after=${page.next_cursor}`;
    }
  };
  const made: { player: string; placement: string; status: string; id: string; atMs: number }[] =
    [];
  for (const [index, player] of ['ann', 'bob', 'ann', 'cyd', 'bob', 'ann'].entries()) {
    const placement = index % 2 === 0 ? 'revive' : 'level-end';
    const simulate = index === 5 ? ({ simulate: 'no_fill' } as const) : {};
    const { body } = await game.decide({ placement, user_ref: `${player} of 1`, ...simulate });
    made.push({ player, placement, status: body.status, id: body.id, atMs: clock.nowMs() });
    clock.set(clock.nowMs() + 1_000);
  }
  const newestFirst = made.toReversed();
  const from = `from=${new Date(fromMs).toISOString()}`;
  const idsOf = (matches: (row: (typeof made)[number]) => boolean) =>
    newestFirst.filter(matches).map(({ id }) => id);
  expect(await find(from)).toEqual(idsOf(() => true));
  expect(await find(`${from}&player=ann%20of%201`)).toEqual(
    idsOf(({ player }) => player === 'ann'),
  );
  expect(await find('player=nobody')).toEqual([]);
  expect(await find(`${from}&placement=revive`)).toEqual(
    idsOf(({ placement }) => placement === 'revive'),
  );
  expect(await find(`${from}&state=no_fill`)).toEqual(idsOf(({ status }) => status === 'no_fill'));
  expect(await find(`${from}&state=earned`)).toEqual([]);
  expect(await find(`${from}&player=bob%20of%201&placement=revive`)).toEqual(
    idsOf(({ player, placement }) => player === 'bob' && placement === 'revive'),
  );
  const middle = new Date(fromMs + 2_000).toISOString();
  expect(await find(`from=${middle}`)).toEqual(idsOf(({ atMs }) => atMs >= fromMs + 2_000));
  expect(await find(`${from}&to=${middle}`)).toEqual(idsOf(({ atMs }) => atMs < fromMs + 2_000));
  expect((await panel.send('GET', '/panel/api/decisions?state=lost')).status).toBe(422);
});

test('the inspector does not find decisions in another environment', async () => {
  const { id } = await game.decideImage('player-2');
  const response = await panel.send('GET', `/panel/api/decisions/${id}`, undefined, {
    'trueward-environment': 'live',
  });
  expect(response.status).toBe(404);
  expect((await inspect(id)).status).toBe(200);
});

test('the inspector explains unfilled decisions in the live environment', async () => {
  const live = createClient(runningService, 'live');
  const { body } = await live.decide({ placement: 'lobby', formats: ['video'] });
  const livePanel = createPanelClient(runningService.url, 'live');
  await livePanel.signIn('owner@example.com');
  const inspection = await livePanel.send<Inspection>('GET', `/panel/api/decisions/${body.id}`);
  expect(inspection.body.explain).toMatchObject([
    { name: 'Lobby banner', verdict: 'format_not_accepted' },
  ]);
  const list = await livePanel.send<{ data: { id: string }[] }>(
    'GET',
    '/panel/api/decisions?limit=5',
  );
  expect(list.body.data).toMatchObject([
    { id: body.id, status: 'no_fill', reason: 'no_candidates', placement: 'lobby' },
  ]);
});

test('a blocked decision shows the rule as it was when the decision was made', async () => {
  const killSwitch = await panel.send<{ id: string }>('POST', '/v1/kill-switches', {
    scope: 'placement',
    target_id: 'revive',
    state: 'on',
    reason: 'A bug.',
  });
  clock.set(clock.nowMs() + 1_000);
  const killedDecision = await game.decide({ placement: 'revive', user_ref: 'player-9' });
  clock.set(clock.nowMs() + 1_000);
  await panel.send('PATCH', `/v1/kill-switches/${killSwitch.body.id}`, {
    state: 'off',
    reason: 'Fixed.',
  });
  expect((await inspect(killedDecision.body.id)).body.cause).toMatchObject({
    type: 'kill_switch',
    id: killSwitch.body.id,
    actor: 'owner@example.com',
    text: 'A bug.',
  });

  const policy = await panel.send<Policy>('POST', '/v1/policies', {
    name: 'Nothing at all',
    kind: 'policy',
    block: { everything: true },
  });
  clock.set(clock.nowMs() + 1_000);
  const blockedDecision = await game.decide({ placement: 'revive', user_ref: 'player-9' });
  expect((await inspect(blockedDecision.body.id)).body.cause).toMatchObject({
    type: 'policy',
    id: policy.body.id,
    actor: 'owner@example.com',
    text: 'Nothing at all',
  });
  await panel.send('DELETE', `/v1/policies/${policy.body.id}`);
});

test('a dry run evaluates a request without storing a decision', async () => {
  type DryRunResult = { decision: Decision; explain: Explanation[]; rule?: Policy };
  const dryRun = (body: object) =>
    panel.send<DryRunResult>('POST', '/panel/api/policies/try', body);
  const count = async () =>
    (await runningService.service.database.query('SELECT id FROM decisions')).length;
  const countBefore = await count();
  const request = { placement: 'revive', user_ref: 'u', locale: 'de-AT' };
  const resultWithoutPolicy = await dryRun({ request });
  expect(resultWithoutPolicy.body.decision).toMatchObject({
    status: 'filled',
    placement: 'revive',
  });
  expect(resultWithoutPolicy.body.decision.token).toBeUndefined();

  const policy = {
    name: 'Nothing in German',
    kind: 'commercial',
    when: { languages: ['de'] },
    block: { everything: true },
  };
  const blockedResult = await dryRun({ request, policy });
  expect(blockedResult.body.decision).toMatchObject({ status: 'blocked', reason: 'commercial' });
  expect(blockedResult.body.rule).toMatchObject({ name: 'Nothing in German' });
  const otherLocaleResult = await dryRun({ request: { ...request, locale: 'fr' }, policy });
  expect(otherLocaleResult.body.decision.status).toBe('filled');

  const savedPolicy = await panel.send<Policy>('POST', '/v1/policies', policy);
  expect((await dryRun({ request })).body.decision.status).toBe('blocked');
  const narrowerPolicy = { ...policy, block: { formats: ['video'] } };
  const changedResult = await dryRun({
    request,
    policy: narrowerPolicy,
    policy_id: savedPolicy.body.id,
  });
  expect(changedResult.body.decision.status).toBe('filled');
  expect(changedResult.body.explain).toContainEqual(
    expect.objectContaining({ name: 'Meadow', verdict: 'commercial: Nothing in German' }),
  );
  await panel.send('DELETE', `/v1/policies/${savedPolicy.body.id}`);
  expect(await count()).toBe(countBefore);
  expect((await dryRun({ request: { placement: 'nowhere' } })).status).toBe(404);
  expect((await dryRun({ request, policy: { name: 'x' } })).status).toBe(422);
});

test('a dry run applies an ad rule before it is saved, and in place of the saved one', async () => {
  const dryRun = async (body: object, client = panel) => {
    const response = await client.send<{ decision: Decision; explain: Explanation[] } & Problem>(
      'POST',
      '/panel/api/policies/try',
      body,
    );
    const { decision, errors, explain } = response.body;
    const answer = decision?.reason ?? decision?.status ?? errors?.map(({ pointer }) => pointer);
    return { answer, decision, explain };
  };
  const request = { placement: 'level-end', user_ref: 'vip', session: { age_s: 20 } };
  const ad_rule = { formats: ['interstitial'], first_after_s: 60 };
  const held = await dryRun({ request, ad_rule });
  expect(held.answer).toBe('frequency_capped');
  expect(held.explain).toMatchObject([
    { name: 'No interstitial in a session’s first 1 minute.', verdict: 'frequency_capped' },
  ]);
  const { issued_at: issuedAt, retry_at: retryAt = '' } = held.decision;
  expect(Date.parse(retryAt) - Date.parse(issuedAt)).toBe(40_000);
  const answers = [
    { request },
    { request, ad_rule: { ...ad_rule, enabled: false } },
    { request: { ...request, session: { age_s: 60 } }, ad_rule },
    { request: { ...request, placement: 'lobby' }, ad_rule },
    { request, ad_rule: { ...ad_rule, gap_s: 0 } },
    { request, ad_rule: { formats: ['interstitial'] } },
    { request: { ...request, session: { age_s: -1 } }, ad_rule },
  ].map(async (body) => (await dryRun(body)).answer);
  expect(await Promise.all(answers)).toEqual([
    'filled',
    'filled',
    'filled',
    'filled',
    ['/ad_rule/gap_s'],
    ['/ad_rule'],
    ['/request/session/age_s'],
  ]);

  const { body: saved } = await panel.send<AdRule>('POST', '/v1/ad-rules', ad_rule);
  const draft = { ...ad_rule, first_after_s: 10 };
  expect((await dryRun({ request, ad_rule: draft })).answer).toBe('frequency_capped');
  expect((await dryRun({ request, ad_rule: draft, ad_rule_id: saved.id })).answer).toBe('filled');
  await panel.send('DELETE', `/v1/ad-rules/${saved.id}`);

  const free = { formats: ['interstitial'], ad_free_with: 'no_ads' };
  expect((await dryRun({ request, ad_rule: free })).answer).toBe('filled');
  const grant = { type: 'no_ads', duration_s: 3_600, reason: 'thanks' };
  await panel.send('PUT', '/v1/grant-budgets/no_ads', { duration_s: 3_600 });
  await panel.send('POST', '/v1/wallets/vip/grants', grant);
  expect((await dryRun({ request, ad_rule: free })).answer).toBe('ad_free');
  // Viewers can't read wallets, and a dry run must not tell either.
  const viewer = await signInAs(runningService, panel, 'viewer');
  expect((await viewer.send('GET', '/v1/wallets/vip')).status).toBe(403);
  expect((await dryRun({ request, ad_rule: free }, viewer)).answer).toBe('filled');
  const nobody = { placement: 'level-end', session: { age_s: 20 } };
  expect((await dryRun({ request: nobody, ad_rule: free })).answer).toBe('filled');
});

test('a leaked secret key is marked as leaked', async () => {
  const { body } = await panel.send<{ id: string; key: string }>('POST', '/v1/keys', {
    kind: 'secret',
  });
  await game.call('GET', '/v1/placements', body.key, undefined, { origin: 'https://game.example' });
  const { body: key } = await panel.send('GET', `/v1/keys/${body.id}`);
  expect(key).toMatchObject({
    leaked_to: 'https://game.example',
    leaked_at: new Date(clock.nowMs()).toISOString(),
  });
});
