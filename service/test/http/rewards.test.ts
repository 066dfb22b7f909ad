import type { RewardStatus, Webhook, WebhookEvent } from '@trueward/protocol/wire';
import { createRemoteJWKSet, jwtVerify } from 'jose';
import { verifyWebhook } from 'trueward/server';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type InProcessService, startInProcess } from '../in-process.ts';
import { createManualClock } from '../manual-clock.ts';
import { type Client, createClient } from './client.ts';
import { startReceiver } from './receiver.ts';

const clock = createManualClock(Date.now());
let service: InProcessService;
let client: Client;
beforeAll(async () => {
  service = await startInProcess({ RATE_LIMITS: 'off' }, { clock });
  client = createClient(service);
});
afterAll(() => service.stop());

const passWatchTime = () => clock.advance(5_000);

test('many concurrent completions of a watched ad earn a single reward', async () => {
  const receiver = await startReceiver();
  const webhook = await client.call<{ id: string; secret: string }>(
    'POST',
    '/v1/webhooks',
    client.secret,
    {
      url: receiver.url,
      events: ['decision.rewarded', 'decision.served'],
    },
  );
  const decision = await client.decideImage('once');
  await client.reportStart(decision);
  passWatchTime();
  const responses = await Promise.all(
    Array.from({ length: 50 }, () =>
      client.report(
        client.createImpression(decision),
        client.createEvent(decision, 'complete', { watched_ms: 5_000 }),
      ),
    ),
  );
  for (const { status, body } of responses) {
    expect(status).toBe(200);
    expect(body.decisions).toMatchObject([
      { id: decision.id, state: 'earned', reward: { type: 'coins', amount: 25 } },
    ]);
  }
  expect(new Set(responses.map(({ body }) => body.decisions[0]?.receipt)).size).toBe(1);

  // Deliveries are written in the same transaction as the change.
  const deliveries = await service.service.database.query(
    'SELECT id FROM deliveries WHERE webhook_id = $1',
    [webhook.body.id],
  );
  expect(deliveries).toHaveLength(2);
  const requests = await receiver.waitForRequests(2);
  const events = await Promise.all(
    requests.map(({ body, headers }) => verifyWebhook(body, headers, webhook.body.secret)),
  );
  expect(events.map(({ type }) => type).toSorted()).toEqual([
    'decision.rewarded',
    'decision.served',
  ]);
  expect(events.find(({ type }) => type === 'decision.rewarded')).toMatchObject({
    environment: 'sandbox',
    data: {
      decision_id: decision.id,
      user_ref: 'once',
      placement: 'revive',
      reward: { type: 'coins', amount: 25 },
    },
  });
  await receiver.close();
});

test('the live environment stores an impression as a webhook event only if a webhook subscribes to it', async () => {
  const live = createClient(service, 'live');
  const play = async (user: string): Promise<string[]> => {
    const decision = await live.decideImage(user);
    await live.reportStart(decision);
    passWatchTime();
    await live.report(
      live.createImpression(decision),
      live.createEvent(decision, 'complete', { watched_ms: 5_000 }),
    );
    const { body } = await live.call<{ data: WebhookEvent[] }>(
      'GET',
      '/v1/webhook-events',
      live.secret,
    );
    return body.data
      .filter((event) => 'decision_id' in event.data && event.data.decision_id === decision.id)
      .map(({ type }) => type)
      .toSorted();
  };
  expect(await play('unread')).toEqual(['decision.rewarded']);

  const { body: webhook } = await live.call<Webhook>('POST', '/v1/webhooks', live.secret, {
    url: 'https://game.example/webhooks',
    events: ['decision.served'],
  });
  // A disabled webhook can recover events later, so they must be stored.
  await live.call('PATCH', `/v1/webhooks/${webhook.id}`, live.secret, { status: 'disabled' });
  expect(await play('missed')).toEqual(['decision.rewarded', 'decision.served']);

  await live.call('DELETE', `/v1/webhooks/${webhook.id}`, live.secret);
  expect(await play('unread again')).toEqual(['decision.rewarded']);
});

test("an earned reward's receipt can be verified with the published keys", async () => {
  const decision = await client.decideImage('receipt');
  await client.reportStart(decision);
  passWatchTime();
  const { body } = await client.report(
    client.createImpression(decision),
    client.createEvent(decision, 'complete', { watched_ms: 5_000 }),
  );
  const keys = createRemoteJWKSet(new URL('/.well-known/jwks.json', service.url));
  const { payload } = await jwtVerify(body.decisions[0]?.receipt ?? '', keys, {
    issuer: service.url,
  });
  expect(payload).toMatchObject({
    sub: 'receipt',
    jti: decision.id,
    env: 'sandbox',
    placement: 'revive',
    reward: { type: 'coins', amount: 25 },
  });
});

test("an earned reward's status and webhook event contain the evidence", async () => {
  const decision = await client.decideImage('evidence');
  const startReport = await client.reportStart(decision);
  expect(JSON.stringify(startReport.body)).not.toContain('evidence');
  passWatchTime();
  const { body } = await client.report(
    client.createImpression(decision),
    client.createEvent(decision, 'complete', { watched_ms: 5_000 }),
  );
  expect(body.decisions).toMatchObject([{ state: 'earned', evidence: 'verified' }]);
  const events = await client.call<{ data: WebhookEvent[] }>(
    'GET',
    '/v1/webhook-events?type=decision.rewarded',
    client.secret,
  );
  expect(
    events.body.data.find(({ data }) => 'decision_id' in data && data.decision_id === decision.id),
  ).toMatchObject({ data: { evidence: 'verified' } });
});

test('a completion that arrives too early is permanently denied', async () => {
  const decision = await client.decideImage('early');
  const complete = () => client.createEvent(decision, 'complete', { watched_ms: 5_000 });
  const firstReport = await client.report(
    client.createEvent(decision, 'start'),
    client.createImpression(decision),
    complete(),
  );
  expect(firstReport.body.decisions).toMatchObject([
    { state: 'denied', reason: 'impossible_timing' },
  ]);
  passWatchTime();
  const secondReport = await client.report(client.createImpression(decision), complete());
  expect(secondReport.body.decisions).toMatchObject([
    { state: 'denied', reason: 'impossible_timing' },
  ]);
});

test('a player who watches two ads at the same time earns one reward', async () => {
  const [firstAd, secondAd] = [
    await client.decideImage('two-tabs'),
    await client.decideImage('two-tabs'),
  ];
  await client.report(client.createEvent(firstAd, 'start'), client.createEvent(secondAd, 'start'));
  passWatchTime();
  const reports = await Promise.all(
    [firstAd, secondAd].map((decision) =>
      client.report(
        client.createImpression(decision),
        client.createEvent(decision, 'complete', { watched_ms: 5_000 }),
      ),
    ),
  );
  const statuses = await Promise.all(
    [firstAd, secondAd].map(({ id, token }) =>
      client.call<RewardStatus>('GET', `/v1/decisions/${id}`, client.publishable, undefined, {
        'decision-token': token,
      }),
    ),
  );
  expect(reports.every(({ status }) => status === 200)).toBe(true);
  expect(statuses.map(({ body }) => body.state).toSorted()).toEqual(['earned', 'pending']);
  expect(statuses.find(({ body }) => body.state === 'pending')?.body.reason).toBe(
    'overlapping_watch',
  );
});

test('a reward is pending until its impression arrives', async () => {
  const decision = await client.decideImage('overtaken');
  await client.reportStart(decision);
  passWatchTime();
  const earlyReport = await client.report(
    client.createEvent(decision, 'complete', { watched_ms: 5_000 }),
  );
  expect(earlyReport.body.decisions).toMatchObject([{ state: 'pending', reason: 'no_impression' }]);
  const status = client.call<RewardStatus>(
    'GET',
    `/v1/decisions/${decision.id}?wait_s=20`,
    client.publishable,
    undefined,
    { 'decision-token': decision.token },
  );
  const finalReport = await client.report(client.createImpression(decision));
  expect(finalReport.body.decisions).toMatchObject([{ state: 'earned' }]);
  expect((await status).body).toMatchObject({ state: 'earned', id: decision.id });
});

test('each event in a batch gets its own result', async () => {
  const decision = await client.decideImage('twice');
  const start = client.createEvent(decision, 'start');
  const { body } = await client.report(
    start,
    start,
    { id: 'no-such-type', type: 'dance' },
    { ...client.createImpression(decision), token: 'x.y' },
  );
  expect(body.results.map(({ status, code }) => [status, code])).toEqual([
    ['accepted', undefined],
    ['duplicate', undefined],
    ['rejected', 'invalid_event'],
    ['rejected', 'token_invalid'],
  ]);
  expect((await client.report(start)).body.results).toEqual([
    { id: start.id, status: 'duplicate' },
  ]);
});

test('a batch may report dropped events but must not contain unknown fields', async () => {
  const decision = await client.decideImage('dropped');
  const batch = {
    sent_at: new Date(clock.nowMs()).toISOString(),
    events: [client.createEvent(decision, 'start')],
  };
  const post = (body: object) => client.call('POST', '/v1/events', client.publishable, body);
  expect((await post({ ...batch, dropped: { full: 3 } })).status).toBe(200);
  expect((await post({ ...batch, lost: 3 })).status).toBe(422);
  expect((await post({ ...batch, events: [] })).status).toBe(422);
  expect((await post({ ...batch, events: [{}] })).status).toBe(422);
});

test('denials and pending rewards can be simulated', async () => {
  const playSimulated = async (simulate: 'reward_denied' | 'reward_pending') => {
    const request = {
      placement: 'revive',
      user_ref: 'forced',
      formats: ['image' as const],
      simulate,
    };
    const { body: decision } = await client.decide(request);
    const { body } = await client.report(
      client.createEvent(decision, 'complete', { watched_ms: 5_000 }),
    );
    return body.decisions[0];
  };
  expect(await playSimulated('reward_denied')).toMatchObject({
    state: 'denied',
    reason: 'simulated',
  });
  expect(await playSimulated('reward_pending')).toMatchObject({
    state: 'pending',
    reason: 'simulated',
  });
});

test('a deleted decision returns 410 once its late window has ended', async () => {
  const decision = await client.decideImage('gone');
  const readStatus = (token = decision.token) =>
    client.call('GET', `/v1/decisions/${decision.id}`, client.publishable, undefined, {
      'decision-token': token,
    });
  await service.service.database.query('DELETE FROM decisions WHERE id = $1', [decision.id]);
  expect(await readStatus()).toMatchObject({ status: 404, body: { code: 'not_found' } });
  clock.advance(7 * 86_400_000);
  expect(await readStatus()).toMatchObject({ status: 404 });
  clock.advance(1);
  expect(await readStatus()).toMatchObject({ status: 410, body: { code: 'decision_gone' } });
  expect(await readStatus(`${decision.token}x`)).toMatchObject({ body: { code: 'token_invalid' } });
});
