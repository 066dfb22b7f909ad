import type { AuditEntry, Creative, KillSwitch, WebhookEvent } from '@trueward/protocol/wire';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type InProcessService, startInProcess } from '../in-process.ts';
import { createManualClock, type ManualClock } from '../manual-clock.ts';
import { type Client, createClient } from './client.ts';
import { signInOwner } from './panel-client.ts';

let clock: ManualClock;
let running: InProcessService;
let client: Client;
beforeAll(async () => {
  clock = createManualClock(Date.now());
  running = await startInProcess({ RATE_LIMITS: 'off' }, { clock });
  client = createClient(running);
});
afterAll(() => running.stop());

const path = '/v1/kill-switches';
const at = (offsetMs: number): string => new Date(clock.nowMs() + offsetMs).toISOString();
const stop = (members: object) =>
  client.call<KillSwitch>('POST', path, client.secret, {
    scope: 'placement',
    target_id: 'revive',
    state: 'on',
    ...members,
  });
const readState = async (id: string) =>
  (await client.manage<KillSwitch>('GET', `${path}/${id}`)).state;
const isStopped = async () =>
  (await client.decide({ placement: 'revive', user_ref: `u${Math.random()}` })).body.reason ===
  'killed';
const listStates = async (id: string) =>
  (
    await client.manage<{ data: WebhookEvent[] }>(
      'GET',
      '/v1/webhook-events?type=kill_switch.changed',
    )
  ).data
    .map(({ data }) => data as { kill_switch_id: string; state: string; actor: string })
    .filter(({ kill_switch_id: switchId }) => switchId === id)
    .map(({ state, actor }) => `${state} by ${actor === 'service' ? 'service' : 'key'}`)
    .toReversed();

test('a kill switch that expires is off everywhere, with one event and one audit record', async () => {
  const { body } = await stop({ expires_at: at(60_000) });
  expect([await readState(body.id), await isStopped()]).toEqual(['on', true]);
  clock.advance(60_000);
  expect([await readState(body.id), await isStopped()]).toEqual(['off', false]);
  await expect.poll(() => listStates(body.id)).toEqual(['on by key', 'off by service']);
  const { data } = await client.manage<{ data: AuditEntry[] }>(
    'GET',
    `/v1/audit-entries?target_id=${body.id}`,
  );
  expect(data.map(({ action, actor }) => [action, actor === 'service'])).toEqual([
    ['kill_switch.expired', true],
    ['kill_switch.created', false],
  ]);

  // Events are listed by the time in their ids.
  clock.advance(1);
  // Turned on again without an expiry, it stops its target, and says so.
  const changed = await client.manage<KillSwitch>('PATCH', `${path}/${body.id}`, { state: 'on' });
  expect([changed.state, changed.expires_at, await isStopped()]).toEqual(['on', undefined, true]);
  expect(await listStates(body.id)).toEqual(['on by key', 'off by service', 'on by key']);
  await client.manage('PATCH', `${path}/${body.id}`, { state: 'off' });
});

test('a kill switch cannot be turned on with an expiry that has passed', async () => {
  for (const passedMs of [1, 0])
    expect((await stop({ expires_at: at(-passedMs) })).status).toBe(422);
  const { body } = await stop({ state: 'off', expires_at: at(-1_000) });
  expect(await listStates(body.id)).toEqual([]);
  const turnOn = async (leftMs: number) =>
    (
      await client.call('PATCH', `${path}/${body.id}`, client.secret, {
        state: 'on',
        expires_at: at(leftMs),
      })
    ).status;
  expect([await turnOn(-1), await turnOn(0), await isStopped()]).toEqual([422, 422, false]);
  expect([await turnOn(1), await isStopped()]).toEqual([200, true]);
  clock.advance(1);
  expect(await isStopped()).toBe(false);
});

test('each of two kill switches stops the target until both are off', async () => {
  const [first, second] = [await stop({}), await stop({})];
  await client.manage('PATCH', `${path}/${first.body.id}`, { state: 'off' });
  expect(await isStopped()).toBe(true);
  await client.manage('PATCH', `${path}/${second.body.id}`, { state: 'off' });
  expect(await isStopped()).toBe(false);
});

test('a house ad shows what its status and schedule mean now', async () => {
  const [creative] = (await client.manage<{ data: Creative[] }>('GET', '/v1/creatives')).data;
  const { id } = await client.manage<{ id: string }>('POST', '/v1/house-ads', {
    name: 'Scheduled',
    creative_id: creative?.id,
    placements: ['lobby'],
    starts_at: at(60_000),
    ends_at: at(120_000),
  });
  const phases: unknown[] = [];
  for (let step = 0; step < 3; step += 1) {
    phases.push((await client.manage<{ phase: string }>('GET', `/v1/house-ads/${id}`)).phase);
    clock.advance(60_000);
  }
  expect(phases).toEqual(['scheduled', 'running', 'ended']);
});

test('a person decides on the revision that the page showed', async () => {
  const owner = await signInOwner(running);
  const [creative] = (
    await owner.send<{ data: (Creative & { etag: string })[] }>(
      'GET',
      '/panel/api/creatives?sort=name',
    )
  ).body.data;
  const review = (headers: Record<string, string | undefined>) =>
    owner.send('POST', `/v1/creatives/${creative?.id}/review`, { status: 'approved' }, headers);
  // Someone swaps the page behind the ad while it is under review.
  await client.manage('PATCH', `/v1/creatives/${creative?.id}`, {
    click_url: 'https://swapped.example/',
  });
  expect((await review({ 'if-match': creative?.etag })).status).toBe(412);
  for (const [method, suffix, body] of [
    ['POST', '/review', { status: 'approved' }],
    ['PATCH', '', { alt: 'Other' }],
    ['DELETE', '', undefined],
  ] as const) {
    const target = `/v1/creatives/${creative?.id}${suffix}`;
    const response = await owner.send(method, target, body, { 'if-match': undefined });
    expect([method, response.status]).toEqual([method, 428]);
  }
});
