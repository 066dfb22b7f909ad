import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test, vi } from 'vitest';
import { serviceTables } from '../../src/store/citus.ts';
import type { Database, Queries } from '../../src/store/database.ts';
import { startInProcess } from '../in-process.ts';
import { createPostgresDatabase, hasPostgres } from '../postgres-database.ts';

const seconds = 11;

/** Returns a list that records every further statement of this database. */
function recordStatements(database: Database): string[] {
  const statements: string[] = [];
  const recorded =
    (run: Queries['query']): Queries['query'] =>
    (text, params = []) => {
      statements.push(text);
      return run(text, params);
    };
  const { query, execute, transaction } = database;
  vi.spyOn(database, 'query').mockImplementation(recorded(query));
  vi.spyOn(database, 'execute').mockImplementation(recorded(execute));
  vi.spyOn(database, 'transaction').mockImplementation((work, options) =>
    transaction(
      (queries) => work({ query: recorded(queries.query), execute: recorded(queries.execute) }),
      options,
    ),
  );
  return statements;
}

/**
 * Returns the table of a statement that all shards execute, and undefined for other statements. All shards execute
 * statements without an account, except for tables on the coordinator.
 */
function findTableOnAllShards(statement: string): string | undefined {
  if (/account_id = (?:\$\d|'service')/.test(statement)) return undefined;
  const tables = [...statement.matchAll(/(?:FROM|INTO|UPDATE) ([a-z_]+)/g)].map(([, name]) => name);
  return tables.some((name = '') => serviceTables.includes(name)) ? undefined : tables[0];
}

test.skipIf(!hasPostgres)(
  'an idle process sends only the polls listed in docs/scale.md to all shards',
  async () => {
    const running = await startInProcess({ DATABASE_URL: await createPostgresDatabase() });
    const statements = recordStatements(running.service.database);
    await sleep(seconds * 1_000);
    await running.stop();
    const counts: Record<string, number> = {};
    for (const statement of statements) {
      const table = findTableOnAllShards(statement);
      if (table !== undefined) counts[table] = (counts[table] ?? 0) + 1;
    }
    // Polls for webhooks with due deliveries and for due tracker requests run every second.
    const { resources = 0, tracker_requests: trackers = 0, ...otherCounts } = counts;
    expect(resources).toBeGreaterThan(0);
    expect(resources).toBeLessThanOrEqual(seconds + 2);
    expect(trackers).toBeGreaterThan(0);
    expect(trackers).toBeLessThanOrEqual(seconds + 2);
    // Polls for counts to fold run every 10 s. Polls for expiring rewards, files to compare and failed webhooks run
    // every minute.
    const infrequentTables = ['creative_origins', 'decisions', 'rollup_deltas'];
    expect(Object.keys(otherCounts).filter((table) => !infrequentTables.includes(table))).toEqual(
      [],
    );
    for (const count of Object.values(otherCounts)) expect(count).toBeLessThanOrEqual(2);
  },
);
