import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test, vi } from 'vitest';
import { serviceTables } from '../../src/store/citus.ts';
import type { Database, Queries } from '../../src/store/database.ts';
import { startInProcess } from '../in-process.ts';
import { createEmptyPostgresDatabase, hasPostgres } from '../postgres-database.ts';

const durationS = 11;

/** Records all subsequent statements sent to this database. Returns the array to which they are appended. */
function recordStatements(database: Database): string[] {
  const statements: string[] = [];
  const record =
    (run: Queries['query']): Queries['query'] =>
    (text, params = []) => {
      statements.push(text);
      return run(text, params);
    };
  const { query, execute, transaction } = database;
  vi.spyOn(database, 'query').mockImplementation(record(query));
  vi.spyOn(database, 'execute').mockImplementation(record(execute));
  vi.spyOn(database, 'transaction').mockImplementation((work, options) =>
    transaction(
      (queries) => work({ query: record(queries.query), execute: record(queries.execute) }),
      options,
    ),
  );
  return statements;
}

/**
 * If a statement fans out to all shards, returns the table that it reads or writes. Otherwise, returns undefined. A
 * statement that does not specify an account fans out unless its table is on the coordinator.
 */
function findFanOutTable(statement: string): string | undefined {
  if (/account_id = (?:\$\d|'service')/.test(statement)) return undefined;
  const tables = [...statement.matchAll(/(?:FROM|INTO|UPDATE) ([a-z_]+)\b(?!\()/g)].map(
    ([, name]) => name,
  );
  return tables.some((name = '') => serviceTables.includes(name)) ? undefined : tables[0];
}

test.skipIf(!hasPostgres)(
  'the only queries an idle process sends to all shards are the polls listed in docs/scale.md',
  async () => {
    const runningService = await startInProcess({
      DATABASE_URL: await createEmptyPostgresDatabase(),
    });
    const statements = recordStatements(runningService.service.database);
    await sleep(durationS * 1_000);
    await runningService.stop();
    const counts: Record<string, number> = {};
    for (const statement of statements) {
      const table = findFanOutTable(statement);
      if (table !== undefined) counts[table] = (counts[table] ?? 0) + 1;
    }
    // The polls for webhooks with due deliveries and for due tracker requests run every second.
    const { resources = 0, tracker_requests: trackers = 0, ...otherCounts } = counts;
    expect(resources).toBeGreaterThan(0);
    expect(resources).toBeLessThanOrEqual(durationS + 2);
    expect(trackers).toBeGreaterThan(0);
    expect(trackers).toBeLessThanOrEqual(durationS + 2);
    // The polls for unfolded counts and for jobs run every 10 s. The polls for expiring rewards, due file comparisons and failed
    // webhooks run every minute.
    const infrequentTables = ['creative_origins', 'decisions', 'jobs', 'rollup_deltas'];
    expect(Object.keys(otherCounts).filter((table) => !infrequentTables.includes(table))).toEqual(
      [],
    );
    for (const count of Object.values(otherCounts)) expect(count).toBeLessThanOrEqual(2);
  },
);
