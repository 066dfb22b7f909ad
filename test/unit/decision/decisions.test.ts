import { expect, test, vi } from 'vitest';
import type { Decision } from '../../../protocol/wire.ts';
import type { ServiceResult } from '../../../src/transport/service-client.ts';
import { createDeferred } from '../../support/deferred.ts';
import { runPendingWork } from '../../support/manual-clock.ts';
import {
  filledDecision,
  getDecisionId,
  neverAborted,
  ok,
  setUp,
  noFillDecision,
  stubWindowSize,
} from './decisions-setup.ts';

stubWindowSize();

test('take() never returns the same ad twice', async () => {
  const { decisions, log } = setUp();
  expect(getDecisionId(await decisions.take('revive', neverAborted))).toBe('dec_1');
  expect(getDecisionId(await decisions.take('revive', neverAborted))).toBe('dec_2');
  expect(log).toMatchObject({ requests: 2, loads: 2, destroyed: 0 });
});

test('take() returns a preloaded ad without a request', async () => {
  const { decisions, log } = setUp();
  expect(await decisions.preload('revive', neverAborted)).toEqual({ available: true });
  expect(await decisions.preload('revive', neverAborted)).toEqual({ available: true });
  expect(getDecisionId(await decisions.take('revive', neverAborted))).toBe('dec_1');
  expect(log.requests).toBe(1);
});

test('concurrent calls for a placement share one request', async () => {
  const { decisions, log, responses } = setUp();
  const response = createDeferred<ServiceResult<Decision>>();
  responses.push(response.promise);
  const preloaded = decisions.preload('revive', neverAborted);
  const request = decisions.take('revive', neverAborted);
  response.resolve(ok(filledDecision('dec_shared')));
  await preloaded;
  expect(getDecisionId(await request)).toBe('dec_shared');
  expect(log.requests).toBe(1);
});

test('requests a preloaded decision again after 60 s, and reuses its media', async () => {
  const { decisions, log, clock } = setUp();
  await decisions.preload('revive', neverAborted);
  await clock.advance(60_000);
  expect(decisions.availability('revive')).toEqual({ available: true });
  expect(getDecisionId(await decisions.take('revive', neverAborted))).toBe('dec_2');
  expect(log).toMatchObject({ requests: 2, loads: 1, destroyed: 0 });
});

test('a kill switch discards a preloaded ad', async () => {
  const { decisions, log, clock, responses } = setUp();
  await decisions.preload('revive', neverAborted);
  await clock.advance(60_000);
  responses.push(ok({ ...noFillDecision(), reason: 'killed' }));
  expect(await decisions.take('revive', neverAborted)).toMatchObject({ outcome: 'killed' });
  expect(log.destroyed).toBe(1);
});

test('replaces the preloaded creative if the new decision has a different one', async () => {
  const { decisions, log, clock, responses } = setUp();
  await decisions.preload('revive', neverAborted);
  await clock.advance(60_000);
  responses.push(ok(filledDecision('dec_new', 'crv_2')));
  await decisions.preload('revive', neverAborted);
  expect(log).toMatchObject({ loads: 2, destroyed: 1 });
});

test('an expired decision is never shown', async () => {
  const { decisions, clock, responses } = setUp();
  responses.push(ok(filledDecision('dec_short', 'crv_1', 30)));
  await decisions.preload('revive', neverAborted);
  await clock.advance(30_000);
  responses.push({ kind: 'unreachable', cause: 'network' });
  expect(await decisions.take('revive', neverAborted)).toMatchObject({ outcome: 'offline' });
});

test('does not send a request before the retry time returned by the service', async () => {
  const { decisions, log, clock, responses } = setUp();
  responses.push(ok(noFillDecision('2026-01-01T00:00:45.000Z')));
  const first = await decisions.take('revive', neverAborted);
  const retryAt = new Date(clock.now() + 45_000);
  expect(first).toMatchObject({ outcome: 'cooldown', retryAt });
  await clock.advance(44_999);
  expect(await decisions.take('revive', neverAborted)).toEqual(first);
  expect(decisions.availability('revive')).toEqual({
    available: false,
    outcome: 'cooldown',
    reason: 'cooldown',
    retryAt,
  });
  expect(log.requests).toBe(1);
  await clock.advance(1);
  expect(decisions.availability('revive')).toEqual({ available: true });
  expect(getDecisionId(await decisions.take('revive', neverAborted))).toBe('dec_2');
});

test('calls onChange when a placement can be requested again', async () => {
  const { decisions, log, clock, responses } = setUp();
  responses.push(ok(noFillDecision('2026-01-01T00:00:45.000Z')), ok(noFillDecision()));
  await decisions.take('revive', neverAborted);
  await decisions.take('coins', neverAborted);
  await clock.advance(29_999);
  expect(log.changes).toBe(0);
  await clock.advance(1);
  expect(log.changes).toBe(1);
  expect(decisions.availability('coins')).toEqual({ available: true });
  await clock.advance(14_999);
  expect(log.changes).toBe(1);
  await clock.advance(1);
  expect(log.changes).toBe(2);
  expect(decisions.availability('revive')).toEqual({ available: true });
  expect(clock.timers()).toBe(0);
});

test('leaves no timers running for an unknown placement or after destroy()', async () => {
  const { decisions, log, clock, responses } = setUp();
  responses.push(ok(noFillDecision('2026-01-01T00:00:45.000Z')));
  await decisions.take('revive', neverAborted);
  expect(clock.timers()).toBe(1);
  decisions.destroy();
  expect(clock.timers()).toBe(0);
  const others = setUp();
  others.responses.push({ kind: 'refused', problem: { code: 'placement_not_found' } });
  await others.decisions.take('revive', neverAborted);
  expect(others.decisions.availability('revive')).toMatchObject({ outcome: 'invalid_placement' });
  expect([log.changes, others.clock.timers()]).toEqual([0, 0]);
});

test('after a no-fill without a retry time, a placement can be requested again immediately', async () => {
  const { decisions, clock, responses } = setUp();
  responses.push(ok(noFillDecision()));
  await decisions.take('revive', neverAborted);
  expect(decisions.availability('revive')).toEqual({
    available: false,
    outcome: 'no_fill',
    reason: 'no_candidates',
  });
  expect(getDecisionId(await decisions.take('revive', neverAborted))).toBe('dec_2');
  responses.push(ok(noFillDecision()));
  await decisions.take('revive', neverAborted);
  await clock.advance(30_000);
  expect(decisions.availability('revive')).toEqual({ available: true });
});

test.each<[string, ServiceResult<Decision>, object]>([
  ['a timeout', { kind: 'unreachable', cause: 'timeout' }, { outcome: 'timeout' }],
  ['a blocked request', { kind: 'unreachable', cause: 'blocked' }, { outcome: 'ad_blocked' }],
  [
    'a failing service',
    { kind: 'retry', status: 503 },
    { outcome: 'error', reason: 'unavailable' },
  ],
  ['a lost connection', { kind: 'unreachable', cause: 'network' }, { outcome: 'offline' }],
  [
    'a captive portal',
    { kind: 'unreachable', cause: 'unexpected_response' },
    { outcome: 'offline', reason: 'network' },
  ],
  ['no fill', ok(noFillDecision()), { outcome: 'no_fill', reason: 'no_candidates' }],
])('after %s, offers no ad for 30 s, but a call still asks', async (_, response, expected) => {
  const { clock, decisions, log, responses } = setUp();
  responses.push(response, response);
  await decisions.take('revive', neverAborted);
  expect(decisions.availability('revive')).toMatchObject({ available: false, ...expected });
  await decisions.take('revive', neverAborted);
  expect(log.requests).toBe(2);
  await clock.advance(29_999);
  expect(decisions.availability('revive').available).toBe(false);
  const changes = log.changes;
  await clock.advance(1);
  expect(decisions.availability('revive')).toEqual({ available: true });
  expect(log.changes).toBe(changes + 1);
  responses.push(response);
  await decisions.take('revive', neverAborted);
  expect(getDecisionId(await decisions.take('revive', neverAborted))).toBe('dec_4');
  expect(decisions.availability('revive')).toEqual({ available: true });
});

test('after a lost connection, other placements are offered again as soon as one is answered', async () => {
  const { decisions, log, responses } = setUp();
  responses.push({ kind: 'unreachable', cause: 'network' });
  await decisions.take('revive', neverAborted);
  expect(decisions.availability('coins')).toMatchObject({ outcome: 'offline' });
  await decisions.take('lobby', neverAborted);
  expect(decisions.availability('revive')).toEqual({ available: true });
  expect(log.changes).toBe(2);
});

test('an answer counts more than what the browser reports', async () => {
  const { decisions, setOnline, log } = setUp();
  setOnline(false);
  const offline = { available: false, outcome: 'offline', reason: 'network' };
  expect(decisions.availability('revive')).toEqual(offline);
  await decisions.preload('lobby', neverAborted);
  expect(decisions.availability('revive')).toEqual({ available: true });
  setOnline(false);
  expect(decisions.availability('revive')).toEqual(offline);
  const changes = log.changes;
  setOnline(true);
  expect(log.changes).toBeGreaterThan(changes);
  expect(decisions.availability('revive')).toEqual({ available: true });
});

test('an ad is loaded until it is shown, forgotten, stale or expired', async () => {
  const { clock, decisions, log, responses } = setUp();
  const states = () => [decisions.isLoaded('revive'), decisions.availability('revive').available];
  const preload = () => decisions.preload('revive', neverAborted);
  expect(states()).toEqual([false, true]);
  await preload();
  expect(states()).toEqual([true, true]);
  await decisions.take('revive', neverAborted);
  expect(states()).toEqual([false, true]);
  await preload();
  decisions.forget();
  expect(states()).toEqual([false, true]);
  await preload();
  await clock.advance(59_999);
  expect([log.changes, ...states()]).toEqual([0, true, true]);
  await clock.advance(1);
  expect([log.changes, ...states()]).toEqual([1, false, true]);
  responses.push(ok(filledDecision('dec_short', 'crv_1', 30)));
  await preload();
  await clock.advance(30_000);
  expect([log.changes, ...states()]).toEqual([2, false, true]);
});

test('an ad that was preloaded for other options is not loaded', async () => {
  const { decisions } = setUp();
  await decisions.preload('revive', neverAborted, { customData: 'level 3' });
  expect(decisions.isLoaded('revive')).toBe(false);
  expect(decisions.isLoaded('revive', { customData: 'level 3' })).toBe(true);
});

test('offline, only a preloaded ad is available', async () => {
  const { decisions, setOnline } = setUp();
  await decisions.preload('revive', neverAborted);
  setOnline(false);
  expect(decisions.availability('revive')).toEqual({ available: true });
  expect(decisions.availability('double-coins')).toMatchObject({ outcome: 'offline' });
});

test('offline, a stale preloaded ad is not available', async () => {
  const { responses, clock, decisions, setOnline } = setUp();
  await decisions.preload('revive', neverAborted);
  await clock.advance(60_000);
  setOnline(false);
  expect(decisions.availability('revive')).toMatchObject({ outcome: 'offline' });
  responses.push({ kind: 'unreachable', cause: 'network' });
  expect(await decisions.take('revive', neverAborted)).toMatchObject({ outcome: 'offline' });
});

test('if the player or the consent changes during a preload, it is repeated', async () => {
  const { decisions, responses, log } = setUp();
  const response = createDeferred<ServiceResult<Decision>>();
  responses.push(response.promise);
  const preloading = decisions.preload('revive', neverAborted);
  await vi.waitFor(() => expect(log.requests).toBe(1));
  decisions.forget();
  response.resolve(ok({ ...noFillDecision(), reason: 'consent_required' }));
  expect(await preloading).toEqual({ available: true });
  expect(decisions.isLoaded('revive')).toBe(true);
});

test('the outcome is error or timeout if the media does not load in time', async () => {
  const { decisions, clock, loadWith } = setUp();
  loadWith(() => Promise.reject(new Error('decode')));
  expect(await decisions.take('revive', neverAborted)).toEqual({
    outcome: 'error',
    reason: 'load_failed',
    detail: 'decode',
    decisionId: 'dec_1',
  });
  const mediaLoaded = createDeferred();
  loadWith(() => mediaLoaded.promise);
  const result = decisions.take('revive', neverAborted);
  await clock.advance(5_000);
  expect(await result).toEqual({
    outcome: 'timeout',
    reason: 'load_timeout',
    decisionId: 'dec_2',
  });
});

test('a creative that loads after its timeout is destroyed', async () => {
  const { decisions, clock, loadWith, log } = setUp();
  const mediaLoaded = createDeferred();
  loadWith(() => mediaLoaded.promise);
  const result = decisions.take('revive', neverAborted);
  await clock.advance(5_000);
  await result;
  mediaLoaded.resolve();
  await runPendingWork();
  expect(log.destroyed).toBe(1);
});

test('a shared request is aborted when its last caller aborts', async () => {
  const { decisions, responses, log } = setUp();
  const response = createDeferred<ServiceResult<Decision>>();
  responses.push(response.promise);
  const first = new AbortController();
  const second = new AbortController();
  const results = [decisions.take('revive', first.signal), decisions.take('revive', second.signal)];
  await vi.waitFor(() => expect(log.requests).toBe(1));
  first.abort();
  expect(await results[0]).toEqual({ outcome: 'aborted' });
  expect(log.aborted).toBe(0);
  second.abort();
  expect(await results[1]).toEqual({ outcome: 'aborted' });
  expect(log.aborted).toBe(1);
  expect(getDecisionId(await decisions.take('revive', neverAborted))).toBe('dec_2');
});

test('forget() discards preloaded ads and cooldowns, and restarts requests in flight', async () => {
  const { decisions, responses, log } = setUp();
  await decisions.preload('revive', neverAborted);
  responses.push(ok(noFillDecision('2026-11-21T13:00:00.000Z')));
  await decisions.preload('lobby', neverAborted);
  const response = createDeferred<ServiceResult<Decision>>();
  responses.push(response.promise);
  const request = decisions.take('double-coins', neverAborted);
  await vi.waitFor(() => expect(log.requests).toBe(3));
  decisions.forget();
  expect(log.destroyed).toBe(1);
  expect(decisions.availability('lobby')).toEqual({ available: true });
  response.resolve(ok(filledDecision('dec_old_terms')));
  expect(getDecisionId(await request)).toBe('dec_4');
  expect(getDecisionId(await decisions.take('revive', neverAborted))).toBe('dec_5');
  expect(log.destroyed).toBe(2);
});

test('rejects a supplied decision for another placement', async () => {
  const { decisions } = setUp();
  const lobbyDecision = { ...filledDecision('dec_given'), placement: 'lobby' };
  const availability = await decisions.preload('revive', neverAborted, { decision: lobbyDecision });
  expect(availability).toMatchObject({ outcome: 'error', reason: 'wrong_placement' });
  expect(decisions.availability('revive')).toEqual({ available: true });
  expect(getDecisionId(await decisions.take('revive', neverAborted))).toBe('dec_1');
});

test('no matter when a caller aborts, a loaded creative is either kept or destroyed', async () => {
  for (let ticks = 0; ticks < 12; ticks += 1) {
    const { decisions, loadWith, log } = setUp();
    const mediaLoaded = createDeferred();
    loadWith(() => mediaLoaded.promise);
    const abortController = new AbortController();
    const result = decisions.take('revive', abortController.signal);
    await vi.waitFor(() => expect(log.loads).toBe(1));
    mediaLoaded.resolve();
    for (let tick = 0; tick < ticks; tick += 1) await Promise.resolve();
    abortController.abort();
    if ('creative' in (await result)) continue;
    await runPendingWork();
    decisions.destroy();
    expect(log.destroyed, `after ${ticks} microtasks`).toBe(1);
  }
});

test('destroy() aborts requests and destroys preloaded creatives', async () => {
  const { decisions, responses, log, clock } = setUp();
  await decisions.preload('revive', neverAborted);
  const response = createDeferred<ServiceResult<Decision>>();
  responses.push(response.promise);
  const request = decisions.take('double-coins', neverAborted);
  await vi.waitFor(() => expect(log.requests).toBe(2));
  decisions.destroy();
  response.resolve(ok(filledDecision('dec_late')));
  expect(await request).toEqual({ outcome: 'aborted' });
  expect(log).toMatchObject({ destroyed: 1, aborted: 1 });
  expect(await decisions.take('revive', neverAborted)).toEqual({ outcome: 'aborted' });
  expect(clock.timers()).toBe(0);
});
