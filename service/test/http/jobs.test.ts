import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  cancelJob,
  createJob,
  findJob,
  type JobStep,
  listJobs,
  runStep,
} from '../../src/history/jobs.ts';
import type { Database, Scope } from '../../src/store/database.ts';
import { migrate } from '../../src/store/migrate.ts';
import { openEmptyDatabase } from '../empty-database.ts';

const nowMs = Date.parse('2026-06-01T12:00:00Z');
const own: Scope = { accountId: 'acc_1', environment: 'live' };
const scopes: Scope[] = [
  own,
  { accountId: 'acc_1', environment: 'sandbox' },
  { accountId: 'acc_2', environment: 'live' },
];

let database: Database;
let jobCount = 0;
beforeAll(async () => {
  database = await openEmptyDatabase();
  await migrate(database);
});
afterAll(() => database.close());

const operationIn = (scope: Scope) => ({ queries: database, scope, actor: 'a test' });
const create = (scope: Scope) =>
  createJob(
    operationIn(scope),
    {
      makeId: () => `job_${String((jobCount += 1)).padStart(3, '0')}`,
      clock: { nowMs: () => nowMs },
    },
    { kind: 'recovery', request: { from: 'here' } },
  );
const refuse: JobStep = () => Promise.reject(new Error('This step must not run.'));
const step = (id: string, recovery: JobStep, accountId = own.accountId) =>
  database.transaction((queries) =>
    runStep(queries, { accountId, id }, { recovery, erasure: refuse }, nowMs + 1_000),
  );

test('each step continues where the last one stopped, until the job is done', async () => {
  const { id } = await create(own);
  const cursors: (string | null)[] = [];
  const walk: JobStep = async (_queries, { cursor, request, scope }) => {
    expect([request, scope]).toEqual([{ from: 'here' }, own]);
    cursors.push(cursor);
    const isLast = cursors.length === 3;
    return {
      cursor: `after ${cursors.length}`,
      progress: cursors.length / 4,
      counts: { sent: 10, [`step ${cursors.length}`]: 1 },
      ...(isLast && { end: 'done' as const }),
    };
  };
  await step(id, walk);
  expect(await findJob(database, own, id)).toMatchObject({ state: 'running', progress: 0.25 });
  await step(id, walk);
  await step(id, walk);
  expect(cursors).toEqual([null, 'after 1', 'after 2']);
  expect(await findJob(database, own, id)).toMatchObject({
    state: 'done',
    progress: 1,
    counts: { sent: 30, 'step 1': 1, 'step 2': 1, 'step 3': 1 },
    finished_at: '2026-06-01T12:00:01.000Z',
  });
  expect(await step(id, refuse)).toBeUndefined();
});

test('a step that fails leaves the job as it was, and a job can say why it failed', async () => {
  const { id } = await create(own);
  const before = await findJob(database, own, id);
  await expect(step(id, refuse)).rejects.toThrow('must not run');
  expect(await findJob(database, own, id)).toEqual(before);
  await step(id, async () => ({
    cursor: null,
    progress: 0,
    end: { failed: 'The webhook is gone.' },
  }));
  expect(await findJob(database, own, id)).toMatchObject({
    state: 'failed',
    reason: 'The webhook is gone.',
  });
});

test('canceling ends one running job, keeps what it did, and changes no other', async () => {
  const jobs: { scope: Scope; id: string }[] = [];
  for (const scope of [...scopes, own]) jobs.push({ scope, id: (await create(scope)).id });
  const canceled = jobs[0]?.id ?? '';
  await step(canceled, async () => ({ cursor: 'x', progress: 0.5, counts: { sent: 7 } }));
  const read = () => Promise.all(jobs.map(({ scope, id }) => findJob(database, scope, id)));
  const [, ...others] = await read();
  for (const scope of scopes.slice(1))
    await expect(cancelJob(operationIn(scope), canceled, nowMs)).rejects.toThrow('does not exist');
  expect(await cancelJob(operationIn(own), canceled, nowMs + 2_000)).toMatchObject({
    state: 'canceled',
    progress: 0.5,
    counts: { sent: 7 },
    finished_at: '2026-06-01T12:00:02.000Z',
  });
  expect(await step(canceled, refuse)).toBeUndefined();
  const [ended, ...unchanged] = await read();
  expect(unchanged).toEqual(others);
  // What has ended can't be canceled again.
  expect(await cancelJob(operationIn(own), canceled, nowMs + 9_000)).toEqual(ended);
});

test('a list has the jobs of one environment, newest first, page by page', async () => {
  const ids: string[] = [];
  for (const scope of scopes) ids.push((await create(scope)).id);
  const { id: newest } = await create(own);
  const page = await listJobs(database, own, { limit: 1 });
  expect(page.map(({ id }) => id)).toEqual([newest, ids[0]]);
  const next = await listJobs(database, own, { limit: 1, startingAfter: newest });
  expect(next[0]?.id).toBe(ids[0]);
  for (const scope of scopes)
    expect(
      (await listJobs(database, scope, { limit: 100 })).every(
        ({ environment }) => environment === scope.environment,
      ),
    ).toBe(true);
  expect((await listJobs(database, scopes[2] as Scope, { limit: 100 })).length).toBe(2);
});
