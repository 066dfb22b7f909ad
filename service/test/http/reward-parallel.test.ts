import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { readCitusRole } from '../../src/store/citus.ts';
import { openPostgres } from '../../src/store/postgres.ts';
import { createPostgresDatabase, hasPostgres } from '../postgres-database.ts';
import { startGame, type Game } from './reward-game.ts';

describe.each([
  ['the embedded database', false],
  ...(hasPostgres ? ([['PostgreSQL', true]] as const) : []),
] as const)('on %s', (_name, usesPostgres) => {
  let game: Game;
  let databaseUrl: string | undefined;
  beforeAll(async () => {
    databaseUrl = usesPostgres ? await createPostgresDatabase() : undefined;
    game = await startGame(databaseUrl);
  });
  afterAll(() => game.stop());

  test('a hundred concurrent completions earn one reward', async () => {
    const decision = await game.decide('hundred');
    await game.report(game.createEvent(decision, 'start'));
    game.advance(5_000);
    const responses = await Promise.all(
      Array.from({ length: 100 }, () =>
        game.report(game.createImpression(decision), game.createCompletion(decision)),
      ),
    );
    const receipts = responses.map(({ decisions }) => decisions[0]?.receipt);
    expect(responses.map(({ decisions }) => decisions[0]?.state)).toEqual(
      Array(100).fill('earned'),
    );
    expect(new Set(receipts).size).toBe(1);
    expect(await game.countWebhookEvents('decision.rewarded', decision.id)).toBe(1);
    expect(await game.countWebhookEvents('decision.served', decision.id)).toBe(1);
    expect(await game.readReportCount('rewards_earned')).toBe(1);
    expect(await game.readReportCount('impressions')).toBe(1);
  });

  test('concurrent duplicates of an event are counted once', async () => {
    const ads = await Promise.all(['one', 'two', 'three'].map((name) => game.decide(name)));
    const events = ads.flatMap((ad) => [
      game.createEvent(ad, 'midpoint'),
      game.createEvent(ad, 'close'),
    ]);
    const responses = await Promise.all(
      Array.from({ length: 60 }, (_, index) =>
        game.report(...(index % 2 === 0 ? events : events.toReversed())),
      ),
    );
    const acceptedIds = responses
      .flatMap(({ results }) => results)
      .filter(({ status }) => status === 'accepted')
      .map(({ id }) => id);
    expect(acceptedIds.toSorted()).toEqual(events.map(({ id }) => id).toSorted());
    expect([await game.readReportCount('midpoints'), await game.readReportCount('closes')]).toEqual(
      [3, 3],
    );
  });

  test('an event stored concurrently by the previous release is counted once', async ({ skip }) => {
    if (!databaseUrl) return skip('The embedded database supports only one connection.');
    const otherRelease = openPostgres(databaseUrl, (error) => console.error(error));
    const decision = await game.decide('overtaken');
    await game.report(game.createEvent(decision, 'start'));
    game.advance(5_000);
    const close = game.createEvent(decision, 'close');
    const countsBefore = [
      await game.readReportCount('rewards_earned'),
      await game.readReportCount('closes'),
    ];
    const [account] = await otherRelease.query<{ account_id: string }>(
      'SELECT account_id FROM decisions WHERE id = $1',
      [decision.id],
    );

    const lockWaitQuery =
      (await readCitusRole(otherRelease)) === undefined
        ? 'SELECT 1 FROM pg_locks WHERE NOT granted'
        : 'SELECT 1 FROM citus_lock_waits';
    const pendingReport = await otherRelease.transaction(async (queries) => {
      const atMs = game.clock.nowMs();
      await queries.query('SELECT FROM decisions WHERE account_id = $1 AND id = $2 FOR UPDATE', [
        account?.account_id,
        decision.id,
      ]);
      await queries.query(
        `INSERT INTO ad_events (account_id, decision_id, id, type, occurred_at, received_at, offset_ms, clamped)
          VALUES ($1, $2, $3, 'close', $4, $4, 0, false)`,
        [account?.account_id, decision.id, close.id, new Date(atMs)],
      );
      const response = game.report(
        game.createImpression(decision),
        game.createCompletion(decision),
        close,
      );
      await waitForBlockedSession(() => otherRelease.query(lockWaitQuery));
      return { response };
    });

    const { results, decisions } = await pendingReport.response;
    expect(results.map(({ status }) => status)).toEqual(['accepted', 'accepted', 'duplicate']);
    expect(decisions[0]?.state).toBe('earned');
    const [rewards = 0, closes] = countsBefore;
    expect([
      await game.readReportCount('rewards_earned'),
      await game.readReportCount('closes'),
    ]).toEqual([rewards + 1, closes]);
    await otherRelease.close();
  });
});

async function waitForBlockedSession(readWaitingSessions: () => Promise<unknown[]>): Promise<void> {
  while ((await readWaitingSessions()).length === 0);
}
