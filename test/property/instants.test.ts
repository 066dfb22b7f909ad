import fc from 'fast-check';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { startGame, type Game } from '../../service/test/http/reward-game.ts';
import { updatePlacement } from '../../service/test/http/reward-operator.ts';
import { ownRows } from '../../service/test/neighbor.ts';

let game: Game;
beforeAll(async () => {
  game = await startGame();
});
afterAll(() => game.stop());

const twoDigits = (min: number, max: number) =>
  fc.integer({ min, max }).map((number) => String(number).padStart(2, '0'));
const usuallyConstant = <T>(commonValue: T, other: fc.Arbitrary<T>): fc.Arbitrary<T> =>
  fc.oneof({ weight: 3, arbitrary: fc.constant(commonValue) }, { weight: 1, arbitrary: other });

/**
 * Generates `date-time` strings of three kinds: those that every common validator accepts, those that only some accept,
 * and those that none accepts.
 */
const timeText: fc.Arbitrary<string> = fc
  .tuple(
    usuallyConstant(
      '2026',
      fc.oneof(
        twoDigits(0, 99).map((year) => `20${year}`),
        twoDigits(0, 9_999).map((year) => year.padStart(4, '0')),
      ),
    ),
    fc.constant('-'),
    twoDigits(1, 12),
    fc.constant('-'),
    twoDigits(1, 31),
    usuallyConstant('T', fc.constantFrom('t', ' ')),
    twoDigits(0, 24),
    fc.constant(':'),
    twoDigits(0, 59),
    fc.constant(':'),
    usuallyConstant('00', twoDigits(0, 60)),
    usuallyConstant(
      '',
      fc.bigInt({ min: 0n, max: 10n ** 12n }).map((digits) => `.${digits}`),
    ),
    usuallyConstant(
      'Z',
      fc.oneof(
        fc.constantFrom('z', '+05', '-0530', '+00:00', '-00:00', '+23:59', '-23:59', '+24:00'),
        fc
          .tuple(
            fc.constantFrom('+', '-'),
            twoDigits(0, 14),
            fc.constantFrom(':', ''),
            twoDigits(0, 59),
          )
          .map((parts) => parts.join('')),
      ),
    ),
  )
  .map((parts) => parts.join(''));

/** A replacement for the reported time. `undefined` leaves the time unchanged. */
const reportedTime = fc.option(timeText, { nil: undefined });
const watches = fc.array(
  fc.record({
    sent: reportedTime,
    start: reportedTime,
    seen: reportedTime,
    complete: reportedTime,
  }),
  { minLength: 15, maxLength: 15 },
);
const cap = { max: 3, per_s: 86_400 };
const cooldownS = 20;

test('stored times are plausible and caps are enforced, whatever times a client reports', async () => {
  await updatePlacement(game, 'revive', { frequency_cap: undefined, cooldown_s: 0 });
  let player = 0;
  await fc.assert(
    fc.asyncProperty(watches, async (plan) => {
      const userRef = `player-${(player += 1)}`;
      const startedAtMs = game.clock.nowMs();
      await updatePlacement(game, 'revive', { frequency_cap: undefined, cooldown_s: 0 });
      const ads = [];
      for (const watch of plan) ads.push({ watch, decision: await game.decide(userRef) });
      await updatePlacement(game, 'revive', { frequency_cap: cap, cooldown_s: cooldownS });
      for (const { watch, decision } of ads) {
        const creators = {
          start: () => game.createEvent(decision, 'start'),
          seen: () => game.createImpression(decision),
          complete: () => game.createCompletion(decision),
        };
        const event = (type: keyof typeof creators) => ({
          ...creators[type](),
          ...(watch[type] === undefined ? {} : { occurred_at: watch[type] }),
        });
        const send = async (...events: object[]) => {
          const body = {
            sent_at: watch.sent ?? new Date(game.clock.nowMs()).toISOString(),
            events,
          };
          const { status } = await game.client.call(
            'POST',
            '/v1/events',
            game.client.publishable,
            body,
          );
          expect([200, 422]).toContain(status);
        };
        await send(event('start'));
        game.advance(5_000);
        await send(event('seen'), event('complete'));
      }
      await expectPlausible(startedAtMs);
      await expectWithinCaps(
        ads.map(({ decision }) => decision.id),
        startedAtMs,
      );
      game.advance(3_600_000);
    }),
    { numRuns: inject('full') ? 12 : 4 },
  );
});

async function expectPlausible(startedAtMs: number): Promise<void> {
  const { database } = game.service;
  const now = new Date(game.clock.nowMs());
  const events = await database.query(
    `SELECT d.issued_at, e.* FROM recorded_events e JOIN decisions d ON d.id = e.decision_id
      WHERE e.${ownRows} AND NOT (e.occurred_at BETWEEN d.issued_at AND e.received_at AND e.received_at <= $1)`,
    [now],
  );
  expect(events).toEqual([]);
  const decisions = await database.query(
    `SELECT id, issued_at, served_at, watch_from, watch_to, settled_at FROM decisions
      WHERE ${ownRows} AND (NOT (served_at BETWEEN issued_at AND $1 AND served_at <= expires_at + interval '1 minute')
        OR NOT (watch_from BETWEEN issued_at AND watch_to AND watch_to <= $1)
        OR NOT (settled_at BETWEEN issued_at AND $1))`,
    [now],
  );
  expect(decisions).toEqual([]);
  const sums = await database.query(
    `SELECT * FROM rollup_counts WHERE ${ownRows} AND (hour < $1 OR hour > $2)`,
    [new Date(Math.min(startedAtMs, Date.UTC(2026, 5, 1))), now],
  );
  expect(sums).toEqual([]);
}

async function expectWithinCaps(ids: string[], startedAtMs: number): Promise<void> {
  const rows = await game.service.database.query<{ served_at: Date }>(
    `SELECT served_at FROM decisions WHERE reward_state = 'earned' AND id = ANY($1::text[]) ORDER BY served_at`,
    [ids],
  );
  expect(rows.length).toBeLessThanOrEqual(cap.max);
  expect(rows.length * 4_750).toBeLessThanOrEqual(game.clock.nowMs() - startedAtMs);
  const times = rows.map((row) => row.served_at.getTime());
  for (const [index, ms] of times.slice(1).entries())
    expect(ms - (times[index] ?? 0)).toBeGreaterThanOrEqual(cooldownS * 1_000);
}
