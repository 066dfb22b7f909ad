import { expect, test } from 'vitest';
import type { Decision } from '../../../protocol/wire.ts';
import type { LoadedCreative } from '../../../src/creative/renderer.ts';
import { createAdRules } from '../../../src/decision/ad-rules.ts';
import { createDecisions } from '../../../src/decision/decisions.ts';
import { noAdFromDecision } from '../../../src/decision/no-ad.ts';
import { sendEvents } from '../../../src/outbox/send.ts';
import { advance } from '../../../src/reward/reward-machine.ts';
import { readReward } from '../../../src/transport/read-reward.ts';
import { createServiceClient } from '../../../src/transport/service-client.ts';
import { nextUpdateMs } from '../../../src/phaser/button-view.ts';
import { createManualClock, runPendingWork } from '../../support/manual-clock.ts';
import { createTestPage, decisionPorts } from '../../support/ports.ts';
import { filledDecision, neverAborted, stubWindowSize } from './decisions-setup.ts';

// What the SDK does with an answer that a proxy, another service or a fault has changed: it asks a few times at most,
// throws nothing, and once the answers are well again, there are ads again.

stubWindowSize();

/** As they are in JSON. `1e999` is parsed as infinity. */
const foreignValues = [
  'null',
  'true',
  '-1',
  '0',
  '0.5',
  '1e15',
  '1e999',
  '""',
  '"constructor"',
  '"__proto__"',
  '"\\u202e💥"',
  `"${'x'.repeat(100)}"`,
  '"not a time"',
  // Before, at and just after the time of issue, and the ends of what a `Date` can be.
  '"2025-12-31T23:59:59.999Z"',
  '"2026-01-01T00:00:00.000Z"',
  '"2026-01-01T00:00:00.001Z"',
  '"+275760-09-13T00:00:00.000Z"',
  '"-271821-04-20T00:00:00.000Z"',
  '[]',
  '[null]',
  '[{}]',
  '{}',
  '{"rewarded":"+275760-09-13T00:00:00.000Z","banner":7,"constructor":{}}',
  '{"rewarded":"not a time"}',
  '{"version":"1","rules":[{}]}',
  `{"version":"${'1'.repeat(65)}","rules":[]}`,
  '{"version":"1","rules":[{"formats":["rewarded"],"first_after_s":1e15}]}',
  '{"version":"1","rules":[{"formats":["rewarded"],"gap_s":"x","gap_after":{},"max_per_day":-1}]}',
  '{"type":7,"amount":"50"}',
  '{"type":"coins","amount":1e999}',
  '{"media":null}',
  '{"media":{"format":{}}}',
];
const optional = ['reward', 'min_watch_ms', 'close_after_ms', 'mistakes', 'explain'];
const ofAll = ['id', 'status', 'issued_at', 'retry_at', 'reason', 'next_ad_at', 'ad_rules'];
const rows = [
  ...Object.keys(filledDecision('dec_1'))
    .concat(optional, ofAll.slice(3))
    .map((field) => [field, 'filled'] as const),
  ...ofAll.map((field) => [field, 'no_fill'] as const),
];

/** Creates the parts that take ads from a service which answers with `answer`, or well if there is none. */
function setUp() {
  const service = { answer: undefined as string | undefined, requests: 0 };
  const clock = createManualClock();
  const delays: number[] = [];
  const watchedClock = {
    ...clock,
    after(ms: number, callback: () => void) {
      delays.push(ms);
      return clock.after(ms, callback);
    },
  };
  const client = createServiceClient({
    serviceUrl: 'https://ads.test',
    publishableKey: 'key',
    clock: watchedClock,
    timeoutMs: 5_000,
    async fetch() {
      service.requests += 1;
      const issuedAt = new Date(clock.now());
      const well = {
        ...filledDecision(`dec_${service.requests}`),
        issued_at: issuedAt.toISOString(),
        expires_at: new Date(clock.now() + 600_000).toISOString(),
      };
      return new Response(service.answer ?? JSON.stringify(well));
    },
  });
  const ports = { ...decisionPorts(clock), clock: watchedClock, client };
  const adRules = createAdRules({
    ...ports,
    name: 'game',
    lifecycle: createTestPage(),
    onChange() {},
    storage: () => ({ getItem: () => null, setItem() {} }),
  });
  const decisions = createDecisions({
    ...ports,
    adRules,
    loadTimeoutMs: 5_000,
    onResponse: (_, response) => void JSON.stringify(response),
    async loadCreative() {
      // The time in which media loads.
      clock.freeze(5);
      return { destroy() {} } as unknown as LoadedCreative;
    },
  });
  return { service, clock, client, adRules, decisions, delays };
}

/** Replaces a member of a decision that is well otherwise. */
function change(field: string, status: Decision['status'], value: string): string {
  const decision = { ...filledDecision('dec_1'), status, [field]: '\0' };
  return JSON.stringify(decision).replace('"\\u0000"', value);
}

test.each(rows)('a foreign `%s` in a decision that is %s', async (field, status) => {
  for (const value of foreignValues) {
    const { adRules, clock, decisions, delays, service } = setUp();
    service.answer = change(field, status, value);
    const about = `${field}: ${value}`;
    /** A call settles without time passing. */
    const settle = async <Result>(call: Promise<Result>): Promise<Result | 'waiting'> => {
      let result: Result | 'waiting' = 'waiting';
      void call.then((value) => (result = value));
      for (let round = 0; round < 20 && result === 'waiting'; round += 1) await runPendingWork();
      return result;
    };
    const taken = await settle(decisions.take('revive', neverAborted));
    expect.soft(taken, about).toEqual(expect.objectContaining({}));
    if (taken !== 'waiting' && 'outcome' in taken) expect.soft(taken.outcome).toMatch(/^[a-z_]+$/);
    expect.soft(service.requests, about).toBeLessThanOrEqual(5);
    // The close button appears.
    if (typeof taken === 'object' && 'decision' in taken) {
      const { close_after_ms: closeAfterMs = 0, min_watch_ms: minWatchMs = 0 } = taken.decision;
      expect.soft(closeAfterMs, about).toBeLessThanOrEqual(120_000);
      expect.soft(minWatchMs, about).toBeGreaterThanOrEqual(0);
    }

    expect.soft(await settle(decisions.preload('revive', neverAborted)), about).not.toBe('waiting');
    expect.soft(service.requests, about).toBeLessThanOrEqual(10);
    const availability = decisions.availability('revive');
    expect.soft(decisions.isLoaded('revive'), about).toEqual(expect.any(Boolean));
    // Phaser's button asks again at this time.
    const nextMs = nextUpdateMs(availability, clock.now());
    if (nextMs !== undefined) expect.soft(nextMs, about).toBeGreaterThanOrEqual(1);
    // A timer with any other delay would fire at once, and again.
    expect
      .soft(
        delays.every((ms) => ms >= 0),
        about,
      )
      .toBe(true);
    expect.soft(adRules.session().rules_version?.length ?? 0, about).toBeLessThanOrEqual(64);

    // The longest frequency cap lasts 30 days.
    clock.freeze(30 * 86_400_000);
    // No rule holds ads back for longer than the first hour of a session.
    for (let part = 0; part < 3; part += 1) {
      decisions.availability('revive');
      clock.freeze(29 * 60_000);
    }
    service.answer = undefined;
    expect
      .soft(await settle(decisions.take('revive', neverAborted)), about)
      .toHaveProperty('creative');
    decisions.destroy();
    adRules.destroy();
  }
});

test.each([
  ['at the time of issue', 0, undefined],
  ['before the time of issue', -60_000, undefined],
  ['a millisecond later', 1, 1_000],
  ['after a year', 365 * 86_400_000, 30 * 86_400_000],
])('a request may be repeated %s: the SDK waits as long as it should', (_, retryMs, waitMs) => {
  const decision = filledDecision('dec_1');
  const retry_at = new Date(Date.parse(decision.issued_at) + retryMs).toISOString();
  const { retryAt } = noAdFromDecision({ ...decision, status: 'no_fill', retry_at }, 0);
  expect(retryAt?.getTime()).toBe(waitMs);
});

test('a service that refuses each new guest is asked a few times', async () => {
  const clock = createManualClock();
  let requests = 0;
  const decisions = createDecisions({
    ...decisionPorts(clock),
    loadTimeoutMs: 5_000,
    client: {
      async call() {
        requests += 1;
        return { kind: 'refused', problem: { code: 'player_required' } };
      },
    },
    makeGuest: async () => decisions.forget(),
    loadCreative: () => Promise.reject(new Error('not used')),
  });
  const result = await decisions.take('revive', neverAborted);
  expect(result).toEqual({ outcome: 'error', reason: 'player_required' });
  expect(requests).toBe(5);
});

test('a decision of the game with a property that throws ends the call', async () => {
  const { decisions } = setUp();
  const decision = Object.defineProperty(filledDecision('dec_1'), 'token', {
    get: () => {
      throw new Error('gone');
    },
    enumerable: true,
  });
  const availability = await decisions.preload('revive', neverAborted, { decision });
  expect(availability).toMatchObject({ outcome: 'error', reason: 'sdk_error' });
});

test.each([
  '{"id":"dec_1","state":"granted"}',
  '{"id":"dec_1","state":"constructor"}',
  '{"id":"dec_1","state":["earned"]}',
  '{"id":7,"state":"earned"}',
])('the reward stays pending if the service says %s', async (status) => {
  const { client, clock, service } = setUp();
  service.answer = status;
  const read = await readReward(client, 'dec_1', 'token');
  expect(read).toEqual({ kind: 'unreachable', cause: 'unexpected_response' });

  service.answer = `{"results":[{"id":"evt_1","status":"accepted"}],"decisions":[${status}]}`;
  const event = { id: 'evt_1', json: '{}' };
  const sent = await sendEvents({ client, clock }, [event], {}, false);
  expect(sent).toMatchObject({ rewards: [], failure: undefined });
});

test.each([{}, { type: 7, amount: 1 }, { type: 'coins', amount: Infinity }, 'coins', null])(
  'an earned reward is what the decision said if the service says %j',
  (reward) => {
    const entry = {
      v: 1,
      decisionId: 'dec_1',
      token: 'token',
      placement: 'revive',
      state: 'pending',
      reward: { type: 'coins', amount: 10 },
      trackedAt: 0,
      delivered: false,
    } as const;
    const status = { id: 'dec_1', state: 'earned', reward, receipt: 7, reason: {}, evidence: [] };
    const event = { type: 'status', status: status as never, at: 7 } as const;
    expect(advance(entry, event)).toEqual({ ...entry, state: 'earned', earnedAt: 7 });
  },
);
