import { randomBytes } from 'node:crypto';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { readWhole } from '../../scripts/lib/read-whole.mjs';
import { createDatabaseOn } from '../../service/test/create-database.ts';
import { startPrivatePostgres, type PrivatePostgres } from '../../service/test/private-postgres.ts';
import { checkAgreement } from './support/check-agreement.ts';
import { batchPlan, playersPerBatch, type BatchPlan } from './support/plan.ts';
import { drawSeed, readSeed } from './support/random.ts';
import { schedule, type Action } from './support/schedule.ts';
import { createWorld, type World } from './support/world.ts';

/** Number of sequences per database. `npm run property:rewards` runs 10,000. */
const sequences = readWhole('TRUEWARD_SEQUENCES', inject('full') ? 300 : 20);
/** The seed of the batch to replay. `TRUEWARD_SHRINK=1` also shrinks a failing batch. */
const replay = readSeed();
const firstSeed = replay ?? drawSeed();
console.log(`First seed: ${firstSeed}.`);
const batches = replay === undefined ? Math.ceil(sequences / playersPerBatch) : 1;

const databaseUrl = process.env['DATABASE_URL'];
const postgres: Pick<PrivatePostgres, 'url' | 'stop'> | undefined =
  databaseUrl === undefined
    ? await startPrivatePostgres()
    : {
        // Each run gets its own database, because reports cover all accounts in a database.
        url: await createDatabaseOn(databaseUrl, `players_${randomBytes(6).toString('hex')}`),
        stop: async () => undefined,
      };
afterAll(() => postgres?.stop());

describe.each<[string, string | undefined]>([
  ['the embedded database', undefined],
  ['two processes on PostgreSQL', postgres?.url ?? ''],
])('rewards on %s', (name, databaseUrl) => {
  let world: World;
  beforeAll(async () => {
    if (databaseUrl !== '') world = await createWorld(databaseUrl);
  });
  afterAll(() => world?.stop());

  test(
    `are earned only for watched ads, once each, in ${batches * playersPerBatch} sequences`,
    {
      timeout: 60_000 + sequences * 1_000,
    },
    async ({ skip }) => {
      if (databaseUrl === '')
        return skip('PostgreSQL is not installed, and DATABASE_URL is not set.');
      let earnedCount = 0;
      for (let batch = 0; batch < batches; batch += 1) {
        const seed = firstSeed + batch;
        const result = await fc.check(
          fc.asyncProperty(batchPlan, async (plan) => {
            earnedCount += await runBatch(world, plan);
          }),
          { seed, numRuns: 1, endOnFailure: process.env['TRUEWARD_SHRINK'] !== '1' },
        );
        if (result.failed) {
          throw new Error(`Replay with: npm run property:rewards -- --seed ${seed}`, {
            cause: result.errorInstance,
          });
        }
        if ((batch + 1) % 20 === 0)
          console.log(
            `${name}: ${(batch + 1) * playersPerBatch} sequences, ${earnedCount} rewards.`,
          );
      }
      // The test is meaningful only if enough rewards were earned.
      expect(earnedCount).toBeGreaterThan(batches * 5);
    },
  );
});

/** Runs one batch and compares its results with the expected results. Returns the number of earned rewards. */
async function runBatch(world: World, plan: BatchPlan): Promise<number> {
  const startAtMs = world.clock.nowMs() + 1_000;
  const { actions, tracks } = schedule(world, plan, startAtMs);
  for (const group of groupByTime(actions)) {
    world.clock.set(Math.max(group[0].atMs, world.clock.nowMs()));
    await Promise.all(group.map(({ run }) => run()));
  }
  world.clock.set(world.clock.nowMs() + 25 * 3_600_000);
  await world.settle();
  return checkAgreement(world, tracks);
}

function groupByTime(actions: Action[]): [Action, ...Action[]][] {
  const groups: [Action, ...Action[]][] = [];
  for (const action of actions) {
    const last = groups.at(-1);
    if (last?.[0].atMs === action.atMs) last.push(action);
    else groups.push([action]);
  }
  return groups;
}
