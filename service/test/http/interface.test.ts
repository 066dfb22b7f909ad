/**
 * The public interface, as a game's server that knows nothing else of us relies on it. `test/unit/docs/interface.test.ts`
 * names each line of the interface and the test that shows it.
 */
import { createHmac } from 'node:crypto';
import type { Problem, Webhook } from '@trueward/protocol/wire';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startReceiver } from './receiver.ts';
import { type Game, startGame } from './reward-game.ts';

/** An event as it arrives at the receiver. */
interface Envelope {
  id: string;
  type: string;
  created_at: string;
  environment: string;
  data: Record<string, unknown>;
}

const eventTypes = [
  'decision.served',
  'decision.rewarded',
  'policy.blocked',
  'creative.review_updated',
  'kill_switch.changed',
];

let game: Game;
let receiver: Awaited<ReturnType<typeof startReceiver>>;
let webhook: Webhook;
beforeAll(async () => {
  game = await startGame();
  receiver = await startReceiver();
  webhook = await game.client.manage('POST', '/v1/webhooks', {
    url: receiver.url,
    events: eventTypes,
  });
});
afterAll(async () => {
  await game.stop();
  await receiver.close();
});

/** Does something, and returns the events of a type that arrive because of it. */
async function receive(type: string, count: number, act: () => Promise<unknown>) {
  const earlier = receiver.requests.length;
  await act();
  for (let requests = earlier + 1; ; requests += 1) {
    const received = (await receiver.waitForRequests(requests)).slice(earlier);
    const events = received.map(({ body }) => JSON.parse(body) as Envelope);
    const found = events.filter((event) => event.type === type);
    if (found.length >= count) return found;
  }
}

test('a webhook is registered with a secret key, a URL and event types', async () => {
  const body = { url: 'https://game.example/hooks', events: ['decision.rewarded'] };
  const { call, secret, publishable } = game.client;
  const created = await call<Webhook>('POST', '/v1/webhooks', secret, body);
  expect(created.status).toBe(201);
  expect(created.body).toMatchObject(body);
  expect(created.body.secret).toMatch(/^whsec_/);
  const register = async (key: string | undefined, changes: object) => {
    const response = await call<Problem>('POST', '/v1/webhooks', key, { ...body, ...changes });
    return [response.status, response.body.code, response.body.errors?.[0]?.pointer];
  };
  expect(await register(publishable, {})).toEqual([403, 'key_not_permitted', undefined]);
  expect(await register(undefined, {})).toEqual([401, 'authentication_required', undefined]);
  expect(await register(secret, { url: 'http://game.example/' })).toEqual([
    422,
    'invalid_request',
    '/url',
  ]);
  expect(await register(secret, { events: ['decision.danced'] })).toEqual([
    422,
    'invalid_request',
    '/events/0',
  ]);
});

test('a key’s prefix names its kind and environment', () => {
  for (const environment of ['sandbox', 'live'] as const) {
    expect(game.keys[environment].secret).toMatch(new RegExp(`^sk_${environment}_\\w+$`));
    expect(game.keys[environment].publishable).toMatch(new RegExp(`^pk_${environment}_\\w+$`));
  }
});

test.each(['placements', 'policies', 'house-ads', 'webhooks', 'kill-switches', 'creatives'])(
  'a secret key manages %s, and a publishable key does not',
  async (kind) => {
    const read = async (key: string) => (await game.client.call('GET', `/v1/${kind}`, key)).status;
    expect([await read(game.client.secret), await read(game.client.publishable)]).toEqual([
      200, 403,
    ]);
  },
);

test('a secret key reads reports and requests decisions from a server', async () => {
  const { call, secret, publishable } = game.client;
  const path = '/v1/reports?from=2026-06-01T00:00:00Z&to=2026-06-02T00:00:00Z';
  expect((await call('GET', path, secret)).status).toBe(200);
  expect((await call('GET', path, publishable)).status).toBe(403);
  const { status, body } = await game.requestDecision({ user_ref: 'by server' }, secret);
  expect([status, body.status]).toEqual([200, 'filled']);
});

test('a key of one environment finds nothing of the other, and changes nothing there', async () => {
  const { call } = game.client;
  const { id } = webhook;
  const { secret } = game.keys.live;
  expect((await call('GET', `/v1/webhooks/${id}`, secret)).status).toBe(404);
  expect((await call('DELETE', `/v1/webhooks/${id}`, secret)).status).toBe(404);
  const decision = await game.decide('crosser');
  const { body } = await call<{ results: { status: string }[] }>(
    'POST',
    '/v1/events',
    game.keys.live.publishable,
    {
      sent_at: new Date(game.clock.nowMs()).toISOString(),
      events: [game.createImpression(decision)],
    },
  );
  expect(body.results.map(({ status }) => status)).toEqual(['rejected']);
});

test('an event is posted as JSON, with a timestamp and a signature of both', async () => {
  const earlier = receiver.requests.length;
  await receive('decision.served', 1, async () => game.watch(await game.decide('signed')));
  for (const { body, headers } of receiver.requests.slice(earlier)) {
    expect(headers['content-type']).toBe('application/json');
    const timestamp = headers['service-timestamp'] ?? '';
    expect(timestamp).toMatch(/^\d{10}$/);
    const signature = createHmac('sha256', webhook.secret ?? '')
      .update(`${timestamp}.${body}`)
      .digest('hex');
    expect(headers['service-signature']).toBe(`v1=${signature}`);
    const event = JSON.parse(body) as Envelope;
    expect(Object.keys(event).toSorted()).toEqual([
      'created_at',
      'data',
      'environment',
      'id',
      'type',
    ]);
    expect(event.id).toMatch(/^evt_\w+$/);
    expect(new Date(event.created_at).toISOString()).toBe(event.created_at);
    expect(event.environment).toBe('sandbox');
    expect(eventTypes).toContain(event.type);
  }
});

test.each(['sandbox', 'live'] as const)('an event of %s names it', async (environment) => {
  const own = await startReceiver();
  const { secret } = game.keys[environment];
  const call = <T>(method: string, path: string, body?: object) =>
    game.client.call<T>(method, path, secret, body);
  const events = ['kill_switch.changed'];
  // In live, only public addresses are allowed, so the event is read instead of being received.
  const url = environment === 'live' ? 'https://game.example/hooks' : own.url;
  const { body: registered } = await call<{ id: string }>('POST', '/v1/webhooks', { url, events });
  await call('POST', '/v1/kill-switches', {
    scope: 'placement',
    target_id: 'lobby',
    state: 'on',
  });
  // Events of the tests before may still be stored.
  const list = await call<{ data: Envelope[] }>('GET', `/v1/webhook-events?type=${events[0]}`);
  expect(list.body.data[0]).toMatchObject({ type: events[0], environment });
  if (environment === 'sandbox') {
    const [received] = await own.waitForRequests(1);
    expect(JSON.parse(received?.body ?? '')).toEqual(list.body.data[0]);
  }
  await call('DELETE', `/v1/webhooks/${registered.id}`);
  await own.close();
});

test('a verified impression and an earned reward are events with the player and the reward', async () => {
  const decision = await game.decide('winner');
  const [rewarded] = await receive('decision.rewarded', 1, () => game.watch(decision));
  expect(decision.id).toMatch(/^dec_\w+$/);
  expect(rewarded?.data).toMatchObject({
    decision_id: decision.id,
    placement: 'revive',
    user_ref: 'winner',
    reward: { type: 'coins', amount: 25 },
  });
  const ofDecision = () =>
    receiver.requests
      .map(({ body }) => JSON.parse(body) as Envelope)
      .filter(({ data }) => data['decision_id'] === decision.id)
      .map(({ type }) => type)
      .toSorted();
  await expect.poll(ofDecision).toEqual(['decision.rewarded', 'decision.served']);
});

test.each(['policy', 'commercial', 'brand_safety'])(
  'a request that a rule of the kind %s blocks is an event',
  async (kind) => {
    const rule = {
      name: 'Not here',
      kind,
      placements: ['revive'],
      when: {},
      block: { everything: true },
    };
    const { id } = await game.client.manage<{ id: string }>('POST', '/v1/policies', rule);
    const [blocked] = await receive('policy.blocked', 1, async () => {
      const { body } = await game.requestDecision({ user_ref: `blocked by ${kind}` });
      expect([body.status, body.reason]).toEqual(['blocked', kind]);
    });
    expect(blocked?.data).toMatchObject({ placement: 'revive', rule: { id, kind } });
    await game.client.manage('DELETE', `/v1/policies/${id}`);
  },
);

test('a change of a creative’s approval is an event', async () => {
  const { manage } = game.client;
  const { data } = await manage<{ data: { id: string }[] }>('GET', '/v1/creatives');
  const id = data[0]?.id ?? '';
  const review = (status: string) =>
    receive('creative.review_updated', 1, () =>
      manage('POST', `/v1/creatives/${id}/review`, { status }),
    );
  const [suspended] = await review('suspended');
  expect(suspended?.data).toMatchObject({ creative_id: id, current: 'suspended' });
  const [approved] = await review('approved');
  expect(approved?.data).toMatchObject({ creative_id: id, previous: 'suspended' });
});

test.each(['source', 'advertiser', 'placement'])(
  'a kill switch of a %s stops its ads, and is an event when it is turned on and off',
  async (scope) => {
    const { manage } = game.client;
    const path = `/v1/${scope}s?limit=100`;
    const { data } = await manage<{ data: { id: string; name: string }[] }>('GET', path);
    // Everything of the kind, so that no other ad takes its place.
    const targets = data
      .filter(({ name }) => scope !== 'placement' || name === 'revive')
      .map(({ id, name }) => (scope === 'placement' ? name : id));
    const ids: string[] = [];
    const states = (events: Envelope[]) =>
      new Set(
        events.map(({ data: change }) =>
          [change['scope'], change['target_id'], change['state']].join(' '),
        ),
      );
    const on = await receive('kill_switch.changed', targets.length, async () => {
      for (const target_id of targets) {
        const stop = { scope, target_id, state: 'on' };
        ids.push((await manage<{ id: string }>('POST', '/v1/kill-switches', stop)).id);
      }
    });
    expect(states(on)).toEqual(new Set(targets.map((target) => `${scope} ${target} on`)));
    expect((await game.requestDecision({ user_ref: 'stopped' })).body.status).not.toBe('filled');
    const off = await receive('kill_switch.changed', targets.length, async () => {
      for (const id of ids) await manage('PATCH', `/v1/kill-switches/${id}`, { state: 'off' });
    });
    expect(states(off)).toEqual(new Set(targets.map((target) => `${scope} ${target} off`)));
    expect((await game.requestDecision({ user_ref: 'resumed' })).body.status).toBe('filled');
  },
);

test('every path of the interface starts with its major version', async () => {
  const { body } = await game.client.call<{ paths: object }>('GET', '/openapi.json');
  const paths = Object.keys(body.paths);
  expect(paths).toContain('/v1/webhooks');
  expect(paths.filter((path) => !path.startsWith('/v1/'))).toEqual([]);
});
