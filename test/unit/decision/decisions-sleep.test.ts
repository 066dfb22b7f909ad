import { expect, test, vi } from 'vitest';
import type { Decision } from '../../../protocol/wire.ts';
import type { ServiceResult } from '../../../src/transport/service-client.ts';
import { createDeferred } from '../../support/deferred.ts';
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

const hourMs = 3_600_000;

test('if a cooldown ends while the device sleeps, calls onChange within 30 s of waking', async () => {
  const { decisions, log, clock, responses } = setUp();
  responses.push(ok(noFillDecision('2026-01-01T09:00:00.000Z')));
  await decisions.take('revive', neverAborted);
  await clock.advance(60_000);
  expect(log.changes).toBe(0);
  clock.sleep(9 * hourMs);
  await clock.advance(30_000);
  expect(log.changes).toBe(1);
});

test('requests a preloaded ad again if it expired while the device slept', async () => {
  const { decisions, log, clock } = setUp();
  await decisions.preload('revive', neverAborted);
  clock.sleep(9 * hourMs);
  expect(getDecisionId(await decisions.take('revive', neverAborted))).toBe('dec_2');
  expect(log).toMatchObject({ requests: 2, loads: 2, destroyed: 1 });
});

test('requests an ad again if it became stale while the device slept', async () => {
  const { decisions, log, clock } = setUp();
  await decisions.preload('revive', neverAborted);
  clock.sleep(5 * 60_000);
  expect(getDecisionId(await decisions.take('revive', neverAborted))).toBe('dec_2');
  expect(log).toMatchObject({ requests: 2, loads: 1, destroyed: 0 });
});

test('requests a decision again if it expired in flight while the device slept', async () => {
  const { responses, clock, decisions, log } = setUp();
  const response = createDeferred<ServiceResult<Decision>>();
  responses.push(response.promise);
  const request = decisions.take('revive', neverAborted);
  await vi.waitFor(() => expect(log.requests).toBe(1));
  clock.sleep(9 * hourMs);
  response.resolve(ok(filledDecision('dec_old')));
  expect(getDecisionId(await request)).toBe('dec_2');
  expect(log.destroyed).toBe(1);
});

test('requests an ad again if it expired while its media loaded and the device slept', async () => {
  const { clock, decisions, loadWith, log } = setUp();
  const mediaLoaded = createDeferred();
  loadWith(() => mediaLoaded.promise);
  const request = decisions.take('revive', neverAborted);
  await vi.waitFor(() => expect(log.loads).toBe(1));
  clock.sleep(9 * hourMs);
  mediaLoaded.resolve();
  expect(getDecisionId(await request)).toBe('dec_2');
  expect(log.destroyed).toBe(1);
});

test('replaces a decision from the game’s server that expired while the device slept', async () => {
  const { decisions, clock } = setUp();
  await decisions.preload('revive', neverAborted, { decision: filledDecision('dec_given') });
  clock.sleep(9 * hourMs);
  expect(getDecisionId(await decisions.take('revive', neverAborted))).toBe('dec_1');
});

test.each([
  ['the device slept', 'sleep'],
  ['the page was frozen', 'freeze'],
] as const)('a retry time that passed while %s no longer blocks requests', async (_, pass) => {
  const { responses, clock, decisions } = setUp();
  responses.push(ok(noFillDecision('2026-01-01T01:00:00.000Z')));
  await decisions.take('revive', neverAborted);
  clock[pass](hourMs - 1);
  expect(decisions.availability('revive').available).toBe(false);
  clock[pass](1);
  expect(decisions.availability('revive')).toEqual({ available: true });
  expect(getDecisionId(await decisions.take('revive', neverAborted))).toBe('dec_2');
});

test('setting the device clock does not change when a preloaded ad expires', async () => {
  const { decisions, clock, log } = setUp();
  await decisions.preload('revive', neverAborted);
  clock.setWallTime(0);
  await clock.advance(59_999);
  await decisions.preload('revive', neverAborted);
  expect(log.requests).toBe(1);
  clock.setWallTime(Date.UTC(2040, 0, 1));
  expect(decisions.availability('revive')).toEqual({ available: true });
  expect(getDecisionId(await decisions.take('revive', neverAborted))).toBe('dec_2');
});

test('if a cooldown ended during sleep, calls onChange as soon as the page is visible', async () => {
  const { responses, clock, decisions, log, page } = setUp();
  responses.push(ok(noFillDecision('2026-01-01T01:00:00.000Z')));
  await decisions.take('revive', neverAborted);
  page.emit('hidden');
  clock.sleep(hourMs - 1);
  page.emit('visible');
  expect(log.changes).toBe(0);
  clock.sleep(1);
  page.emit('visible');
  expect(log.changes).toBe(1);
  page.emit('visible');
  expect(log.changes).toBe(1);
  decisions.destroy();
  expect(clock.timers()).toBe(0);
});
