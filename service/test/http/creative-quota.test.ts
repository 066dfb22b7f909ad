import { afterAll, beforeAll, expect, test } from 'vitest';
import { checkQuota, type Submission } from '../../src/demand/intake/external-creative.ts';
import type { Database, Queries } from '../../src/store/database.ts';
import { accountId, openTwinDatabase, scope } from '../twin-accounts.ts';

// How many creatives a source may add. Rows that only look like its creatives don't count.

let database: Database;
beforeAll(async () => {
  database = await openTwinDatabase();
});
afterAll(() => database.close());

interface Rows {
  count: number;
  status?: string;
  /** What a row has otherwise than the source's own creatives. */
  other?: Partial<Record<'account' | 'environment' | 'kind' | 'sourceId', string>>;
  archived?: boolean;
  withoutKey?: boolean;
}

const sourceId = 'src_quota';
const submission = { scope, source: { id: sourceId } } as Submission;

async function addCreatives(queries: Queries, rows: Rows): Promise<void> {
  const { count, status = 'approved', other = {}, archived = false, withoutKey = false } = rows;
  await queries.query(
    `INSERT INTO resources (account_id, environment, kind, id, document, revision, created_at, updated_at, archived_at)
      SELECT $1, $2, $3, 'quota_' || n || $6, jsonb_build_object('source_id', $4::text,
          'review', jsonb_build_object('status', $5::text)) || $7::jsonb, 1, now(), now(), CASE WHEN $8 THEN now() END
        FROM generate_series(1, $9::int) n`,
    [
      other.account ?? accountId,
      other.environment ?? scope.environment,
      other.kind ?? 'creative',
      other.sourceId ?? sourceId,
      status,
      JSON.stringify(rows),
      withoutKey ? {} : { source_key: 'key' },
      archived,
      count,
    ],
  );
}

/** Returns the error for a source with these rows. */
async function check(...groups: Rows[]): Promise<string | undefined> {
  const undo = new Error();
  let message: string | undefined;
  await database
    .transaction(async (queries) => {
      for (const rows of groups) await addCreatives(queries, rows);
      message = await checkQuota(queries, submission).then(
        () => undefined,
        (error: unknown) => (error as Error).message,
      );
      throw undo;
    })
    .catch((error: unknown) => {
      if (error !== undo) throw error;
    });
  return message;
}

const pending = { status: 'pending_review' };

test('a source may have 200 creatives pending review, and 1,000 in all', async () => {
  expect(await check({ count: 199, ...pending }, { count: 800 })).toBeUndefined();
  expect(await check({ count: 200, ...pending })).toMatch('200 creatives from this source');
  expect(await check({ count: 1 }, { count: 998, status: 'rejected' })).toBeUndefined();
  expect(await check({ count: 2 }, { count: 998, status: 'rejected' })).toMatch('1000 creatives');
});

test.each<[string, Omit<Rows, 'count'>]>([
  ['of another account', { other: { account: 'acc_twin1' } }],
  ['of the other environment', { other: { environment: 'live' } }],
  ['of another source', { other: { sourceId: 'src_other' } }],
  ['that are of another kind', { other: { kind: 'house_ad' } }],
  ['that are archived', { archived: true }],
  ['that a person has uploaded', { withoutKey: true }],
])('creatives %s do not count', async (_name, others) => {
  const own = { count: 199, ...pending };
  expect(await check(own, { count: 2, ...pending, ...others })).toBeUndefined();
});
