import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createIds } from '../../src/platform/ids.ts';
import { createResourceStore } from '../../src/resource/resource-store.ts';
import type { Database, Queries } from '../../src/store/database.ts';
import { createRecoveryStep } from '../../src/webhook/recovery.ts';
import { makeId } from '../tenant-rows.ts';
import { accountId, ids, openTwinDatabase, place, scope } from '../twin-accounts.ts';
import { accessWrites } from '../writes/access-writes.ts';
import { elsewhere } from '../writes/elsewhere.ts';
import { objectWrites } from '../writes/object-writes.ts';
import { playerWrites } from '../writes/player-writes.ts';
import { trackerWrites } from '../writes/tracker-writes.ts';
import { webhookWrites } from '../writes/webhook-writes.ts';
import { clock, makeNewId } from '../writes/write-case.ts';

// Each write must change exactly the rows it is for. See twin-accounts.ts.

const cases = {
  ...accessWrites,
  ...objectWrites,
  ...playerWrites,
  ...trackerWrites,
  ...webhookWrites,
};
const now = '2026-06-01T12:00:00.000Z';
const webhook = { accountId, webhookId: makeId('webhook', place) };
const resources = createResourceStore(clock, makeNewId);

let database: Database;
let keys: Map<string, string[]>;
beforeAll(async () => {
  database = await openTwinDatabase();
  keys = await readPrimaryKeys();
});
afterAll(() => database.close());

/** What the cases have executed. */
const executed = new Set<string>();
const recordStatements = (queries: Queries): Queries => {
  const record =
    (run: Queries['query']): Queries['query'] =>
    (text, params) => {
      // A statement for an empty list changes nothing.
      if (!params?.some((param) => Array.isArray(param) && param.length === 0))
        executed.add(flatten(text));
      return run(text, params);
    };
  return { ...queries, query: record(queries.query), execute: record(queries.execute) };
};

test.each(Object.entries(cases))(
  '%s changes no other row',
  async (_, { prepare = [], write, changes }) => {
    const undo = new Error('undo');
    let changedRows: string[] = [];
    const transaction = database.transaction(async (queries) => {
      for (const statement of prepare) await queries.query(statement);
      const before = await readRows(queries);
      const own = recordStatements(queries);
      await write(own, { ...database, ...own, transaction: (work) => work(own) });
      const after = await readRows(queries);
      changedRows = [...new Set([...before.keys(), ...after.keys()])].filter(
        (key) => before.get(key) !== after.get(key),
      );
      throw undo;
    });
    await expect(transaction).rejects.toBe(undo);
    const shown = changedRows.map((key) =>
      key.replace(/ (acc_home1|service)(?= )/, '').replace(/ [0-9a-f-]{36}$/, ' (new)'),
    );
    expect(shown.toSorted()).toEqual(changes.toSorted());
  },
);

test('every statement that changes or deletes rows has a case, or another test is about it', () => {
  const missing = listStatements()
    .filter(({ pattern }) => ![...executed].some((statement) => pattern.test(statement)))
    .map(({ file, text }) => `${file}: ${text}`);
  const isElsewhere = (statement: string) =>
    Object.keys(elsewhere).some((start) => statement.startsWith(start));
  expect(missing.filter((statement) => !isElsewhere(statement))).toEqual([]);
  for (const [start, file] of Object.entries(elsewhere)) {
    expect([start, missing.some((statement) => statement.startsWith(start))]).toEqual([
      start,
      true,
    ]);
    expect([file, existsSync(join(import.meta.dirname, '..', file))]).toEqual([file, true]);
  }
});

test('recovery waits for its own webhook’s queue, and for no other', async () => {
  const undo = new Error('undo');
  const results: unknown[] = [];
  const step = createRecoveryStep({ clock, makeId: makeNewId, resources });
  const request = { webhook_id: webhook.webhookId, since: now, until: now };
  const fill = (queries: Queries, account: string, webhookId: string) =>
    queries.query(
      `INSERT INTO delivery_queue SELECT (jsonb_populate_record(one, jsonb_build_object('id', 'del_' || n, 'webhook_id', $3::text))).*
        FROM delivery_queue AS one, generate_series(1, 2000) AS n WHERE account_id = $1 AND id = $2`,
      [account, makeId('delivery', place), webhookId],
    );
  const transaction = database.transaction(async (queries) => {
    const run = async () => {
      const job = { scope, id: '', request, cursor: null, createdAtMs: 0 };
      results.push((await step(queries, job)).isWaiting);
    };
    await fill(queries, 'acc_twin1', webhook.webhookId);
    await fill(queries, accountId, 'whk_other');
    await run();
    await queries.query(
      `UPDATE delivery_queue SET webhook_id = $1 WHERE webhook_id = 'whk_other'`,
      [webhook.webhookId],
    );
    await run();
    throw undo;
  });
  await expect(transaction).rejects.toBe(undo);
  expect(results).toEqual([undefined, true]);
});

test('recovery queues only events of the webhook’s own scope, types and outcomes', async () => {
  const undo = new Error('undo');
  const results: unknown[] = [];
  const events = ids('webhookEvent', 1, 2, 3);
  const rewarded = 'decision.rewarded';
  const step = createRecoveryStep({
    clock,
    makeId: createIds(clock, (size) => crypto.getRandomValues(new Uint8Array(size))),
    resources,
  });
  // The neighbors' ids are from a far future.
  const period = { since: '2026-01-01T00:00:00.000Z', until: '2099-12-31T00:00:00.000Z' };
  const recover = async (
    queries: Queries,
    types: string[],
    filter: Record<string, string> = {},
  ): Promise<unknown> => {
    await queries.query(`UPDATE webhook_events SET type = ($1::text[])[right(id, 1)::integer]`, [
      types,
    ]);
    await queries.query('DELETE FROM delivery_queue WHERE webhook_id = $1', [webhook.webhookId]);
    const request = { webhook_id: webhook.webhookId, ...period, ...filter };
    const result = await step(queries, { scope, id: '', request, cursor: null, createdAtMs: 0 });
    const rows = await queries.query<{ account_id: string; environment: string; event_id: string }>(
      'SELECT account_id, environment, event_id FROM delivery_queue WHERE webhook_id = $1 ORDER BY event_id',
      [webhook.webhookId],
    );
    for (const row of rows)
      expect(row).toMatchObject({ account_id: accountId, environment: 'sandbox' });
    expect(result.counts?.['queued']).toBe(rows.length);
    return rows.map((row) => row.event_id);
  };
  const transaction = database.transaction(async (queries) => {
    await queries.query(`UPDATE finished_deliveries SET state = 'failed'`);
    results.push(
      await recover(queries, [rewarded, 'decision.served', rewarded]),
      await recover(queries, [rewarded, rewarded, rewarded], { state: 'missed' }),
      await recover(queries, [rewarded, rewarded, rewarded], { state: 'failed' }),
      await recover(queries, [rewarded, rewarded, rewarded], { until: period.since }),
      await recover(queries, [rewarded, rewarded, rewarded], { since: period.until }),
    );
    // Each webhook has received the event with its own number.
    await queries.query(`UPDATE finished_deliveries SET state = 'delivered'`);
    results.push(
      await recover(queries, [rewarded, rewarded, rewarded]),
      await recover(queries, [rewarded, rewarded, rewarded], { state: 'delivered' }),
    );
    await queries.query('DELETE FROM finished_deliveries WHERE account_id = $1', [accountId]);
    results.push(await recover(queries, [rewarded, rewarded, rewarded], { state: 'missed' }));
    throw undo;
  });
  await expect(transaction).rejects.toBe(undo);
  const [first, second, third] = events;
  expect(results).toEqual([
    [first, third],
    [second, third],
    [first],
    [],
    [],
    [second, third],
    [first],
    [first, second, third],
  ]);
});

/** Lists the statements in the service's files, as patterns of what is executed. */
function listStatements(): { file: string; text: string; pattern: RegExp }[] {
  const sources = join(import.meta.dirname, '../../src');
  return readdirSync(sources, { recursive: true, encoding: 'utf8' })
    .map((name) => name.replaceAll('\\', '/'))
    .filter((name) => name.endsWith('.ts') && !/^(program|store\/migrations)\//.test(name))
    .flatMap((file) => {
      const text = readFileSync(join(sources, file), 'utf8');
      return [...text.matchAll(/`([^`]*)`|'((?:UPDATE|DELETE|INSERT)[^'\n]*)'/g)]
        .map(([, template, short]) => flatten(template ?? short ?? ''))
        .flatMap(
          (statement) =>
            /(UPDATE \S+ (AS \S+ )?SET|DELETE FROM|INSERT INTO(?=.* DO UPDATE)) .*/.exec(
              statement,
            )?.[0] ?? [],
        )
        .map((statement) => {
          const parts = statement
            .split(/\$\{[^}]*\}/)
            .map((part) => part.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&'));
          return { file, text: statement, pattern: new RegExp(parts.join('.*')) };
        });
    });
}

const flatten = (statement: string): string => statement.replaceAll(/\s+/g, ' ').trim();

/** Returns the primary key of each table, without the account. */
async function readPrimaryKeys(): Promise<Map<string, string[]>> {
  const rows = await database.query<{ table: string; columns: string[] }>(
    `SELECT relname AS table, array_agg(attname::text ORDER BY array_position(indkey::int2[], attnum)) AS columns
      FROM pg_index JOIN pg_class AS c ON c.oid = indrelid
      JOIN pg_attribute ON attrelid = indrelid AND attnum = ANY (indkey)
      WHERE indisprimary AND NOT relispartition AND relnamespace = 'public'::regnamespace GROUP BY relname`,
  );
  return new Map(
    rows.map(({ table, columns }) => [table, columns.filter((column) => column !== 'account_id')]),
  );
}

/** Reads all rows, by table, account and primary key. */
async function readRows(queries: Queries): Promise<Map<string, string>> {
  const rows = await queries.query<{ key: string; value: string }>(
    [...keys]
      .map(([table, columns]) => {
        const key = [`'${table}'`, 'account_id', ...columns].join(', ');
        return `SELECT concat_ws(' ', ${key}) AS key, t::text AS value FROM ${table} AS t`;
      })
      .join(' UNION ALL '),
  );
  return new Map(rows.map(({ key, value }) => [key, value]));
}
