import type { AdEvent } from '@trueward/protocol/wire';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { readEvidence } from '../../src/event/event-store.ts';
import { formatTimeline } from '../../src/event/timeline.ts';
import { createPostgresDatabase, hasPostgres } from '../postgres-database.ts';
import { type Filled, type Game, startGame } from './reward-game.ts';

describe.each([
  ['the embedded database', false],
  ...(hasPostgres ? ([['PostgreSQL', true]] as const) : []),
] as const)('on %s', (_name, onServer) => {
  let game: Game;
  beforeAll(async () => {
    game = await startGame(onServer ? await createPostgresDatabase() : undefined);
  });
  afterAll(() => game.stop());

  /** Stores what was reported so far as the next release does. */
  async function moveToTimeline({ id }: Filled): Promise<void> {
    const { database } = game.service;
    const [decision] = await database.query<{ account_id: string }>(
      'SELECT account_id FROM decisions WHERE id = $1',
      [id],
    );
    const accountId = decision?.account_id ?? '';
    const events = (await readEvidence(database, accountId, [id])).get(id) ?? [];
    await database.query('DELETE FROM ad_events WHERE decision_id = $1', [id]);
    await database.query(
      `INSERT INTO timelines VALUES ($1, $2, $3)
        ON CONFLICT (account_id, decision_id) DO UPDATE SET events = excluded.events`,
      [accountId, id, formatTimeline(events)],
    );
  }

  const statuses = async (...events: AdEvent[]) =>
    (await game.report(...events)).results.map(({ status }) => status);
  /** What the inspector and operators read. */
  const recorded = ({ id }: Filled) =>
    game.service.database.query(
      'SELECT * FROM recorded_events WHERE decision_id = $1 ORDER BY occurred_at, id',
      [id],
    );

  test('events in a timeline are duplicates when they come again, and earn the reward with those in rows', async () => {
    const decision = await game.decide('both');
    const start = game.event(decision, 'start', { id: '923741103577103-1' });
    const detail = 'a "b" é';
    const early = game.event(decision, 'first_quartile', {
      id: '923741103577103-2',
      watched_ms: 1_250,
      detail,
    });
    game.pass(1_250);
    expect(await statuses(start, early)).toEqual(['accepted', 'accepted']);
    await moveToTimeline(decision);
    game.pass(3_750);
    const end = [game.seen(decision), game.complete(decision)];
    const { results, decisions } = await game.report(start, ...end, early);
    expect(results.map(({ status }) => status)).toEqual([
      'duplicate',
      'accepted',
      'accepted',
      'duplicate',
    ]);
    expect(decisions).toMatchObject([{ state: 'earned' }]);
    expect(await statuses(start, ...end, early)).toEqual(Array(4).fill('duplicate'));

    const before = await recorded(decision);
    expect(before).toHaveLength(4);
    await moveToTimeline(decision);
    expect(await recorded(decision)).toEqual(before);
  });

  test('a malformed timeline fails the requests about its decision, and no other request', async () => {
    const [broken, other] = await Promise.all([game.decide('broken'), game.decide('other')]);
    await game.report(game.event(broken, 'start'));
    await moveToTimeline(broken);
    const { database } = game.service;
    await database.query(`UPDATE timelines SET events = '[1, 2]' WHERE decision_id = $1`, [
      broken.id,
    ]);
    const { client, event } = game;
    const sent_at = new Date(game.clock.nowMs()).toISOString();
    const send = async (decision: Filled) => {
      const body = { sent_at, events: [event(decision, 'midpoint')] };
      return (await client.call('POST', '/v1/events', client.publishable, body)).status;
    };
    expect(await Promise.all([send(other), send(broken), send(other)])).toEqual([200, 500, 200]);
    await database.query('DELETE FROM timelines WHERE decision_id = $1', [broken.id]);
    expect(await send(broken)).toBe(200);
  });
});
