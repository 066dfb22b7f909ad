import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { readServiceSecret } from '../../src/access/secret-box.ts';
import { runOnce, runOnceDetached } from '../../src/http/operations.ts';
import { createUploads } from '../../src/media/unused-uploads.ts';
import type { Database, Scope } from '../../src/store/database.ts';
import { openEmptyDatabase } from '../empty-database.ts';
import { createManualClock } from '../manual-clock.ts';
import { ownRows } from '../neighbor.ts';
import { type Content, createKeyedRequest } from '../keyed-request.ts';

// What several requests or processes try at the same time happens once.

const own: Scope = { accountId: 'acc_1', environment: 'live' };
const otherScopes: Scope[] = [
  { accountId: 'acc_1', environment: 'sandbox' },
  { accountId: 'acc_2', environment: 'live' },
];
const clock = createManualClock(Date.parse('2026-06-01T12:00:00Z'));
const box = { seal: (text: string) => text, open: (text: string) => text };

let database: Database;
beforeAll(async () => {
  database = await openEmptyDatabase();
});
beforeEach(async () => {
  await database.query(`DELETE FROM idempotency_keys WHERE ${ownRows}`);
});
afterAll(() => database.close());

let runs = 0;
interface Options extends Content {
  key?: string;
  scope?: Scope;
  work?: () => Promise<object>;
}
/** Sends a request. Returns the number of the run that it got, or the code of the problem. */
const send = ({
  key = 'key',
  scope = own,
  work = async () => ({ run: (runs += 1) }),
  ...content
}: Options = {}): Promise<unknown> =>
  runOnceDetached(
    { queries: database, box, clock },
    scope,
    createKeyedRequest(key, content),
    work,
  ).then(
    (response) => (response.body as { run: number }).run,
    (error: Error & { code?: string }) => error.code ?? error.message,
  );
const sendInTransaction = (scope = own): Promise<unknown> =>
  runOnce({ queries: database, box, clock }, scope, createKeyedRequest('key', {}), async () => ({
    status: 200,
    body: { run: (runs += 1) },
  })).then(({ body }) => (body as { run: number }).run);

/** Work that lasts until the test ends it. */
function startWork() {
  let start = () => {};
  let fail: (error: Error) => void = () => {};
  const started = new Promise<void>((resolve) => (start = resolve));
  const ended = new Promise<object>((_, reject) => (fail = reject));
  const work = (): Promise<object> => {
    start();
    return ended;
  };
  return { work, started, fail: (message: string) => fail(new Error(message)) };
}

test('an answered request is not repeated, however late it is sent again', async () => {
  const first = await send();
  for (const ms of [0, 60_000, 1, 3_600_000]) {
    clock.advance(ms);
    expect(await send()).toBe(first);
  }
  for (const other of [
    { body: { other: true } },
    { url: '/b' },
    { url: '/a?b' },
    { method: 'PUT' },
  ])
    expect(await send(other), JSON.stringify(other)).toBe('idempotency_key_reused');
  expect(await send({ key: 'another' })).toBe(runs);
  for (const scope of otherScopes) expect(await send({ scope })).toBe(runs);
  expect(await send()).toBe(first);
});

test('a request whose process has died is repeated after a minute, and not before', async () => {
  const dead = startWork();
  void send({ work: dead.work });
  await dead.started;
  for (const scope of otherScopes) expect(await send({ scope })).toBe(runs);
  expect(await send()).toBe('request_in_progress');
  clock.advance(60_000);
  expect(await send()).toBe('request_in_progress');
  clock.advance(1);
  expect(await send({ body: { other: true } })).toBe('idempotency_key_reused');
  expect(await send()).toBe(runs);
});

test('a failed request can be repeated at once, but not while another process repeats it', async () => {
  const [slow, second, other] = [startWork(), startWork(), startWork()];
  expect(await send({ work: () => Promise.reject(new Error('failed')) })).toBe('failed');
  const responses = [
    send({ work: slow.work }),
    send({ key: 'other', work: other.work }),
    ...otherScopes.map((scope) => send({ scope, work: other.work })),
  ];
  await Promise.all([slow.started, other.started]);
  clock.advance(60_001);
  const repeated = send({ work: second.work });
  await second.started;
  slow.fail('failed late');
  expect(await responses[0]).toBe('failed late');
  expect(await send()).toBe('request_in_progress');
  second.fail('failed too');
  expect(await repeated).toBe('failed too');
  const { length } = await database.query(`SELECT FROM idempotency_keys WHERE ${ownRows}`);
  expect(length).toBe(3);
  other.fail('failed');
  await Promise.all(responses);
});

test('a response is kept for a day', async () => {
  const first = await sendInTransaction();
  const others = await Promise.all(otherScopes.map(sendInTransaction));
  clock.advance(86_400_000);
  expect(await sendInTransaction()).toBe(first);
  clock.advance(1);
  expect(await sendInTransaction()).toBe(runs);
  // The other account's is deleted when that account sends something.
  const { length } = await database.query(
    `SELECT FROM idempotency_keys WHERE account_id = 'acc_2'`,
  );
  expect([length, others.length]).toEqual([1, 2]);
});

test('processes that create a secret at the same time share one', async () => {
  const create = (queries: Pick<Database, 'query'>) =>
    readServiceSecret(queries as Database, box, clock, 'a test');
  let earlier: string | undefined;
  const late = {
    async query<Row extends object>(statement: string, params?: unknown[]) {
      const rows = await database.query<Row>(statement, params as never);
      earlier ??= await create(database);
      return rows;
    },
  };
  expect(await create(late as never)).toBe(earlier);
});

test('an unused file that a creative begins to use while files are deleted is kept', async () => {
  const name = `${'0'.repeat(64)}.png`;
  await database.query(
    `INSERT INTO uploads (account_id, name, bytes, unused_since) VALUES ('service', $1, 1, '2020-01-01')`,
    [name],
  );
  const removed: string[] = [];
  const uploads = createUploads({
    database: {
      ...database,
      async query<Row extends object>(statement: string, params?: unknown[]) {
        const rows = await database.query<Row>(statement, params as never);
        if (statement.includes('SELECT name'))
          await database.query(
            `INSERT INTO resources (account_id, environment, kind, id, document, revision, created_at, updated_at)
              VALUES ('acc_1', 'live', 'creative', 'crv_1', $1, 1, now(), now())`,
            [JSON.stringify({ media: { files: [{ url: `/media/${name}` }] } })],
          );
        return rows;
      },
    },
    store: { remove: async (file: string) => void removed.push(file) },
    clock,
  } as never);
  expect([await uploads.removeUnused(), removed]).toEqual([[], []]);
});
