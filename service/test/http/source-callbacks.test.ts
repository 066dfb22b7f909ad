import { createHmac } from 'node:crypto';
import type {
  Decision,
  EventResult,
  Placement,
  Problem,
  Source,
  SourceCallbackRequest,
  SourceCallbackSecret,
} from '@trueward/protocol/wire';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { type FilledDecision, type Game, startGame } from './reward-game.ts';
import { turnOnKillSwitch, updatePlacement } from './reward-operator.ts';

// The server of an ad network confirms the views that its ad SDK has shown in the page.

let game: Game;
const adapter = 'custom:network';
const ready = { page_adapters: [adapter] };
const createSource = (members: Partial<Source> = {}): Promise<Source> =>
  game.client.manage<Source>('POST', '/v1/sources', {
    name: 'Network',
    kind: 'page',
    adapter,
    placements: ['revive'],
    priority: 1,
    ...members,
  });
const setCallback = (
  id: string,
  callback: Partial<SourceCallbackRequest> = {},
): Promise<SourceCallbackSecret> =>
  game.client.manage<SourceCallbackSecret>('POST', `/v1/sources/${id}/callback`, callback);
const pay = (members: Partial<Placement> = {}): Promise<void> =>
  updatePlacement(game, 'revive', { page_rewards: 'source_attested', ...members });

let source: Source;
let secret: string;
beforeAll(async () => {
  game = await startGame();
  source = await createSource();
  secret = (await setCallback(source.id)).secret ?? '';
  await pay();
});
afterAll(() => game.stop());
afterEach(() => pay());

interface Call {
  id?: string;
  method?: 'GET' | 'POST';
  query?: Record<string, string>;
  headers?: Record<string, string>;
  body?: string;
}

/** Calls the service, as the server of an ad network does. */
async function call({ id = source.id, method = 'GET', query = {}, headers = {}, body }: Call) {
  const url = new URL(`/v1/source-callbacks/${id}`, game.url);
  for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value);
  const response = await fetch(url, { method, headers, ...(body !== undefined && { body }) });
  const answer = (await response.json()) as Partial<EventResult> & Partial<Problem>;
  return { status: response.status, answer };
}
const confirm = async (decision: Decision, more: Record<string, string> = {}) =>
  (await call({ query: { decision_id: decision.id, key: secret, ...more } })).answer;

let players = 0;
const request = (more: object = {}): Promise<FilledDecision> =>
  game.decide(`callback player ${(players += 1)}`, { ...ready, ...more });
const isInPage = ({ creative }: Decision): boolean => creative?.media.format === 'page';
const complete = async (decision: FilledDecision) =>
  (await game.report(game.createEvent(decision, 'complete'))).decisions[0];

/** What a decision learns, in this order, and what its reward is then. */
const orders: [string, ('start' | 'complete' | 'callback' | 'again')[], object][] = [
  ['the device alone', ['start', 'complete'], { state: 'pending', reason: 'awaiting_callback' }],
  ['the network alone', ['callback'], { state: 'earned' }],
  ['the device, then the network', ['start', 'complete', 'callback'], { state: 'earned' }],
  ['the network, then the device', ['start', 'callback', 'complete'], { state: 'earned' }],
  ['the network twice', ['callback', 'again', 'complete', 'again'], { state: 'earned' }],
  ['the start alone', ['start'], { state: 'none' }],
];

test.each(orders)('%s says that an ad was watched', async (_case, steps, status) => {
  const decision = await request();
  expect(isInPage(decision)).toBe(true);
  for (const step of steps) {
    game.advance(5_000);
    if (step === 'callback')
      expect(await confirm(decision)).toEqual({ id: decision.id, status: 'accepted' });
    else if (step === 'again')
      expect(await confirm(decision)).toEqual({ id: decision.id, status: 'duplicate' });
    else await game.report(game.createEvent(decision, step));
  }
  const isEarned = 'state' in status && status.state === 'earned';
  expect(await game.readRewardStatus(decision.id)).toMatchObject({
    ...status,
    ...(isEarned && { evidence: 'source_attested' }),
  });
  expect(await game.countWebhookEvents('decision.rewarded', decision.id)).toBe(isEarned ? 1 : 0);
});

test('a hundred calls at once pay once', async () => {
  const decision = await request();
  const answers = await Promise.all(Array.from({ length: 100 }, () => confirm(decision)));
  expect(answers.filter(({ status }) => status === 'accepted')).toHaveLength(1);
  expect(await game.countWebhookEvents('decision.rewarded', decision.id)).toBe(1);
});

/** How networks prove who they are. */
const secretOfNetwork = 'a-secret-of-the-network';
const sign = (text: string): string =>
  createHmac('sha256', secretOfNetwork).update(text).digest('hex');
const signatureHeader = 'X-Network-Hash';
const proofs: [string, SourceCallbackRequest | object, (id: string) => Call][] = [
  ['a key in the query string', {}, (id) => ({ query: { decision_id: id, key: secretOfNetwork } })],
  [
    'a key in the query string of a POST request',
    {},
    (id) => ({ method: 'POST', query: { decision_id: id, key: secretOfNetwork } }),
  ],
  [
    'a key in the query string, and parameters in a form',
    { decision_parameter: 'custom' },
    (id) => ({
      method: 'POST',
      query: { key: secretOfNetwork },
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: `user_id=1&custom=${id}`,
    }),
  ],
  [
    'a key as a bearer token, and parameters in JSON',
    {},
    (id) => ({
      method: 'POST',
      headers: {
        authorization: `Bearer ${secretOfNetwork}`,
        'content-type': 'application/json; charset=utf-8',
      },
      body: JSON.stringify({ user: { id: 1 }, decision_id: id }),
    }),
  ],
  [
    'a key as a bearer token, and JSON with a byte order mark',
    {},
    (id) => ({
      method: 'POST',
      headers: {
        authorization: `Bearer ${secretOfNetwork}`,
        'content-type': 'application/json',
      },
      body: `\uFEFF${JSON.stringify({ decision_id: id })}`,
    }),
  ],
  [
    'an HMAC of the sorted query string',
    { signature_header: signatureHeader, decision_parameter: 'custom_1' },
    (id) => ({
      query: { user_id: 'a b', custom_1: id, amount: '10' },
      headers: { [signatureHeader]: sign(`amount=10&custom_1=${id}&user_id=a+b`) },
    }),
  ],
  [
    'an HMAC of the body',
    { signature_header: signatureHeader },
    (id) => {
      const body = JSON.stringify({ decision_id: id, ignored: 'é' });
      return {
        method: 'POST',
        headers: {
          [signatureHeader.toUpperCase()]: `sha256=${sign(body).toUpperCase()}`,
          'content-type': 'application/json',
        },
        body,
      };
    },
  ],
];

test.each(proofs)('a network proves who it is with %s', async (_case, callback, makeCall) => {
  await setCallback(source.id, { ...callback, secret: secretOfNetwork });
  const decision = await request();
  const made = makeCall(decision.id);
  expect(await call(made)).toEqual({
    status: 200,
    answer: { id: decision.id, status: 'accepted' },
  });
  // The same proof is worth nothing for another decision, with another secret or in another way.
  const other = await request();
  const forged: Call[] = [
    { query: { decision_id: other.id, custom_1: other.id, custom: other.id } },
    { ...made, query: { ...made.query, key: `${secretOfNetwork}x` }, headers: {} },
    {
      ...made,
      query: { ...made.query, key: '' },
      headers: { ...made.headers, authorization: 'Bearer x', [signatureHeader]: sign('') },
    },
  ];
  for (const forgery of forged) expect((await call(forgery)).status).toBe(401);
  if ('signature_header' in callback) {
    const replayed = {
      ...made,
      query: { ...made.query, decision_id: other.id, custom_1: other.id },
    };
    await call(replayed);
  }
  expect((await game.readRewardStatus(other.id)).state).toBe('none');
  secret = (await setCallback(source.id)).secret ?? '';
});

test('a secret that was replaced, or a callback that was removed, confirms nothing', async () => {
  const decision = await request();
  const old = secret;
  secret = (await setCallback(source.id)).secret ?? '';
  const query = { decision_id: decision.id, key: old };
  expect((await call({ query })).status).toBe(401);
  await game.client.manage('DELETE', `/v1/sources/${source.id}/callback`);
  expect((await call({ query: { ...query, key: secret } })).status).toBe(404);
  const stored = `SELECT FROM secrets WHERE purpose = 'source_callback' AND id = $1`;
  expect(await game.service.database.query(stored, [source.id])).toEqual([]);
  secret = (await setCallback(source.id)).secret ?? '';
  expect(await confirm(decision)).toMatchObject({ status: 'accepted' });
});

/** Decisions that a network may not confirm. */
const others: [string, () => Promise<string>][] = [
  ['that does not exist', async () => 'dec_01kt3v2g000000000000000000'],
  ['whose id is nonsense', async () => `' OR true --`],
  ['of a house ad', async () => (await game.decide('house player')).id],
  [
    'of another source',
    async () => {
      const other = await createSource({ adapter: 'custom:other', priority: 1 });
      await setCallback(other.id);
      return (await request({ page_adapters: ['custom:other'] })).id;
    },
  ],
  [
    'of a source that had no callback',
    async () => {
      await game.client.manage('DELETE', `/v1/sources/${source.id}/callback`);
      await pay({ page_rewards: 'client_attested' });
      const { id } = await request();
      secret = (await setCallback(source.id)).secret ?? '';
      return id;
    },
  ],
];

test.each(others)('a network can’t confirm a decision %s', async (_case, decide) => {
  const id = await decide();
  expect(await call({ query: { decision_id: id, key: secret } })).toEqual({
    status: 200,
    answer: { id, status: 'rejected', code: 'decision_mismatch' },
  });
});

test('a call without the decision says what it has instead', async () => {
  const { status, answer } = await call({ query: { key: secret, user: '1', custom: 'x' } });
  expect(status).toBe(422);
  expect(answer.detail).toBe(
    'The parameter decision_id with the decision’s id is missing. Received: user, custom.',
  );
});

/** Text that the database can't store, and that no check of URLs and JSON bodies has seen. */
const unstorable: [string, string, string][] = [
  ['a zero byte in a form', 'application/x-www-form-urlencoded', 'decision_id=dec_%00'],
  ['a zero byte in JSON', 'application/json', String.raw`{"decision_id":"dec_\u0000"}`],
  ['half a pair of surrogates', 'application/json', String.raw`{"decision_id":"dec_\ud800"}`],
];

test.each(unstorable)('a call with %s is refused', async (_case, type, body) => {
  const headers = { 'content-type': type };
  const { status, answer } = await call({ method: 'POST', query: { key: secret }, headers, body });
  expect([status, answer.detail]).toEqual([
    422,
    'The parameter decision_id contains a character that is not allowed in text.',
  ]);
});

test('a call with thousands of parameters is refused before its proof is checked', async () => {
  const { id } = await createSource({ adapter: 'custom:signed' });
  await setCallback(id, { signature_header: signatureHeader, secret: secretOfNetwork });
  const send = async (parameters: number) => {
    const query = Object.fromEntries(
      Array.from({ length: parameters }, (_, index) => [`p${index}`, '']),
    );
    const { status, answer } = await call({ id, query, headers: { [signatureHeader]: sign('') } });
    return [status, answer.detail];
  };
  expect(await send(100)).toEqual([401, expect.stringContaining(signatureHeader)]);
  expect(await send(101)).toEqual([422, 'The query string has more than 100 parameters.']);
});

test('a call after the late window expires the reward, and a kill switch denies it', async () => {
  const [late, killed] = [await request(), await request()];
  const turnOff = await turnOnKillSwitch(game, 'revive');
  expect(await confirm(killed)).toMatchObject({ status: 'rejected', code: 'killed' });
  await turnOff();
  expect(await game.readRewardStatus(killed.id)).toMatchObject({ state: 'denied' });
  await complete(late);
  game.advance(86_400_001);
  expect(await confirm(late)).toMatchObject({ status: 'rejected', code: 'late' });
  expect(await game.readRewardStatus(late.id)).toMatchObject({ state: 'expired' });
});

test('the placement says which evidence suffices', async () => {
  const plain = await createSource({ adapter: 'custom:sdk', priority: 1 });
  const sdk = { page_adapters: ['custom:sdk'] };
  const decision = await request(sdk);
  expect(isInPage(decision)).toBe(false);
  expect(decision.explain?.find(({ source_id: id }) => id === plain.id)?.verdict).toBe(
    'refused: page rewards need a source with a callback',
  );
  await pay({ page_rewards: 'client_attested' });
  expect(await complete(await request(sdk))).toMatchObject({ evidence: 'client_attested' });
  expect(await complete(await request())).toMatchObject({ reason: 'awaiting_callback' });
});

test('a child’s reward never waits for a callback, which couldn’t name the child', async () => {
  const forChildren = await createSource({
    adapter: 'custom:kids',
    priority: 1,
    child_directed: true,
  });
  await setCallback(forChildren.id);
  const decision = await request({ page_adapters: ['custom:kids'], child_directed: true });
  expect(isInPage(decision)).toBe(false);
  expect(decision.explain?.find(({ source_id: id }) => id === forChildren.id)?.verdict).toBe(
    'refused: a callback can’t name a child',
  );
});

test('the limits of page rewards hold for confirmed views too', async () => {
  await pay({ page_reward_cap: { max: 1, per_s: 3_600 } });
  const player = { user_ref: 'eager player', ...ready };
  const [first, second] = [await request(player), await request(player)];
  await confirm(first);
  await confirm(second);
  expect(await game.readRewardStatus(first.id)).toMatchObject({ state: 'earned' });
  expect(await game.readRewardStatus(second.id)).toMatchObject({
    state: 'pending',
    reason: 'frequency_capped',
  });
});

test('a callback is for page sources only, and its secret is shown once', async () => {
  const house = await game.client.manage<Source>('POST', '/v1/sources', {
    name: 'House',
    kind: 'house',
  });
  const refused = await game.client.call<Problem>(
    'POST',
    `/v1/sources/${house.id}/callback`,
    game.client.secret,
    {},
  );
  expect([refused.status, refused.body.errors?.[0]]).toEqual([
    422,
    { pointer: '/callback', message: 'is for page sources only' },
  ]);
  const answer = await setCallback(source.id);
  expect(answer).toEqual({
    url: `http://service.test/v1/source-callbacks/${source.id}`,
    secret: expect.stringMatching(/^cbs_[\w-]{32}$/),
  });
  secret = answer.secret ?? '';
  const read = await game.client.manage<Source>('GET', `/v1/sources/${source.id}`);
  expect(read.callback).toEqual({ decision_parameter: 'decision_id' });
  expect(JSON.stringify(read)).not.toContain(secret);
});
