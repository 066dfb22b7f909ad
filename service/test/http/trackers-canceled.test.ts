import { beforeEach, describe, expect, test } from 'vitest';
import type { Game } from './reward-game.ts';
import { turnOnKillSwitch } from './reward-operator.ts';
import { engines, useTrackerGame } from './tracker-game.ts';
import { startTrackerServer, type TrackerServer } from './tracker-server.ts';

describe.each(engines)('on %s', (engine) => {
  const { current, createTrackers, decide, findUnreachableHost, pollLater, readRequests } =
    useTrackerGame(engine);
  let game: Game;
  let server: TrackerServer;
  beforeEach(() => ({ game, server } = current()));

  test('a kill switch cancels pending trackers and counts them as failed', async () => {
    const { url, port } = await findUnreachableHost();
    const queuedDecision = await decide('killed', { byEvent: { start: [`${url}/a`] } });
    await game.report(game.createEvent(queuedDecision, 'start'));
    game.advance(2_000);
    await game.report(game.createImpression(queuedDecision));
    const attemptedRequestsQuery = `SELECT FROM tracker_requests WHERE attempt > 0 AND decision_id = '${queuedDecision.id}'`;
    await expect.poll(() => game.service.database.query(attemptedRequestsQuery)).toHaveLength(1);
    const laterDecision = await decide(
      'killed-later',
      { byEvent: createTrackers('impression', 'firstQuartile') },
      { impressionOn: 'rendered' },
    );
    const failedBefore = await game.readReportCount('trackers_failed', 'killed');

    const turnOff = await turnOnKillSwitch(game, 'revive');
    const restartedServer = await startTrackerServer(undefined, port);
    await game.report(
      game.createEvent(laterDecision, 'start'),
      game.createEvent(laterDecision, 'first_quartile'),
    );
    await pollLater(() => game.readReportCount('trackers_failed', 'killed')).toBe(failedBefore + 3);
    expect([restartedServer.paths(), server.paths()]).toEqual([[], []]);
    expect(await readRequests(queuedDecision)).toEqual({ 'start/0': 'failed' });
    await restartedServer.close();
    await turnOff();
  });

  test('invalid traffic cancels trackers, including queued ones', async () => {
    const { url, port } = await findUnreachableHost();
    const decision = await decide('invalid', {
      byEvent: { impression: [`${url}/impression`], complete: [`${url}/c`] },
    });
    await game.report(game.createEvent(decision, 'start'));
    game.advance(2_000);
    await game.report(game.createImpression(decision));
    await expect
      .poll(() => readRequests(decision))
      .toEqual({ 'impression/0': 'pending with client' });
    await game.service.database.query(
      `UPDATE decisions SET invalid_reason = 'impossible_order' WHERE id = $1`,
      [decision.id],
    );
    const restartedServer = await startTrackerServer(undefined, port);
    await pollLater(() => readRequests(decision)).toEqual({ 'impression/0': 'failed' });
    const failedCount = await game.readReportCount('trackers_failed', 'invalid_traffic');
    game.advance(3_000);
    await game.report(
      game.createEvent(decision, 'third_quartile'),
      game.createCompletion(decision),
    );
    expect(await readRequests(decision)).toEqual({ 'impression/0': 'failed' });
    expect(failedCount).toBeGreaterThan(0);
    expect(restartedServer.paths()).toEqual([]);
    await restartedServer.close();
  });

  test("no trackers are fired after the source's tracking window has ended", async () => {
    const { url } = await findUnreachableHost();
    const decision = await decide(
      'late',
      {
        byEvent: { ...createTrackers('complete'), impression: [`${url}/impression`] },
      },
      { trackUntilMs: game.clock.nowMs() + 4_000 },
    );
    const lateBefore = await game.readReportCount('trackers_late');
    await game.report(game.createEvent(decision, 'start'));
    game.advance(2_000);
    await game.report(game.createImpression(decision));
    await expect
      .poll(() => readRequests(decision))
      .toEqual({ 'impression/0': 'pending with client' });
    game.advance(3_000);
    expect((await game.report(game.createCompletion(decision))).decisions[0]?.state).toBe('earned');
    // Both are late: the completion's request, which was never stored, and the pending one.
    await pollLater(() => readRequests(decision)).toEqual({ 'impression/0': 'late' });
    await expect.poll(() => game.readReportCount('trackers_late')).toBe(lateBefore + 2);
    expect(server.paths()).toEqual([]);
  });
});
