import { gunzipSync } from 'node:zlib';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { AuditEntry, Job } from '@trueward/protocol/wire';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { archiveWeek } from '../../src/history/archive-week.ts';
import { deleteOldRows } from '../../src/history/delete-old-rows.ts';
import { eraseFromArchives } from '../../src/history/erase-from-archives.ts';
import { createPartitions, listWeeks } from '../../src/store/partitions.ts';
import { ownRowsBy } from '../neighbor.ts';
import { type Game, startGame } from './reward-game.ts';

let game: Game;
beforeAll(async () => {
  game = await startGame();
  const webhook = { url: 'https://hooks.example/a', events: ['decision.rewarded'] };
  await game.client.call('POST', '/v1/webhooks', game.client.secret, webhook);
});
afterAll(() => game.stop());

const dayMs = 86_400_000;
const tables = 'decisions timelines webhook_events delivery_queue finished_deliveries'.split(' ');

/** Counts the rows of all tables in which these ids occur. */
async function countRows(ids: readonly string[]): Promise<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const table of tables) {
    const [row] = await game.service.database.query<{ count: number }>(
      `SELECT count(*)::bigint AS count FROM ${table} t WHERE t::text ~ $1 AND ${ownRowsBy('t::text')}`,
      [ids.join('|')],
    );
    counts[table] = row?.count ?? NaN;
  }
  return counts;
}

const exportPlayer = async (userRef: string): Promise<Record<string, unknown>[]> => {
  const response = await fetch(`${game.url}/v1/users/${encodeURIComponent(userRef)}/export`, {
    headers: { authorization: `Bearer ${game.client.secret}` },
  });
  expect([response.status, response.headers.get('content-type')]).toEqual([
    200,
    'application/x-ndjson',
  ]);
  const text = (await response.text()).trimEnd();
  return text === '' ? [] : text.split('\n').map((line) => JSON.parse(line) as never);
};

const erase = async (userRef: string): Promise<Job> => {
  const path = `/v1/users/${encodeURIComponent(userRef)}`;
  const response = await game.client.call<Job>('DELETE', path, game.client.secret);
  expect(response.status).toBe(202);
  let job = response.body;
  while (job.state === 'running')
    job = (await game.client.call<Job>('GET', `/v1/jobs/${job.id}`, game.client.secret)).body;
  return job;
};

/** Plays a rewarded ad, and requests one that is not filled. Returns the ids of the player's decisions and events. */
async function play(userRef: string, isChild: boolean): Promise<string[]> {
  const request = { child_directed: isChild, custom_data: `of ${userRef}` };
  const decision = await game.decide(userRef, request);
  expect((await game.watch(decision))?.state).toBe('earned');
  const unfilled = await game.requestDecision({
    user_ref: userRef,
    simulate: 'no_fill',
    ...request,
  });
  const events = await game.service.database.query<{ id: string }>(
    'SELECT id FROM webhook_events WHERE viewer = (SELECT viewer FROM decisions WHERE id = $1) ORDER BY id',
    [decision.id],
  );
  return [decision.id, unfilled.body.id, ...events.map(({ id }) => id)];
}

test.each([
  ['player/ä? 7'.replace('ä', '%'), false],
  [`${'~'.repeat(127)}x`, false],
  ['a child', true],
])('%s is exported, and erased without a trace', async (userRef, isChild) => {
  const otherIds = await play(`other than ${userRef}`.slice(0, 100), isChild);
  const ids = await play(userRef, isChild);
  const before = await countRows(ids);
  expect(before).toMatchObject({ decisions: 2, timelines: 1, webhook_events: 2 });

  const lines = await exportPlayer(userRef);
  expect(lines.map(({ record, id }) => [record, id])).toEqual([
    ['decision', ids[0]],
    ['decision', ids[1]],
    ['webhook_event', ids[2]],
    ['webhook_event', ids[3]],
  ]);
  expect(lines[0]).toMatchObject({ reward_state: 'earned', custom_data: `of ${userRef}` });
  expect(
    ((lines[0]?.['events'] ?? []) as { type: string }[]).map(({ type }) => type).toSorted(),
  ).toEqual(['complete', 'impression', 'start']);
  // The body of a child's event is stored encrypted.
  expect(lines.slice(2).map(({ data }) => data)).toContainEqual(
    expect.objectContaining({ user_ref: userRef, reward: expect.anything() as unknown }),
  );

  const job = await erase(userRef);
  expect(job).toMatchObject({ kind: 'erasure', state: 'done', progress: 1 });
  expect(job.counts).toEqual({ events: 2, decisions: 2 });
  expect(await countRows(ids)).toEqual(Object.fromEntries(tables.map((table) => [table, 0])));
  expect(await exportPlayer(userRef)).toEqual([]);
  expect(await countRows(otherIds)).toEqual(before);
  // Neither the job nor the audit log names the player.
  const audit = await game.client.call<{ data: AuditEntry[] }>(
    'GET',
    '/v1/audit-entries?action=player.erased',
    game.client.secret,
  );
  expect(audit.body.data[0]?.after).toEqual({ job_id: job.id });
  expect(JSON.stringify([job, audit.body.data])).not.toContain(userRef);
  // Erasing again is harmless.
  expect((await erase(userRef)).counts).toEqual({});
});

test('an ad that is being watched while its player is erased earns nothing and breaks nothing', async () => {
  const decision = await game.decide('in the middle');
  await game.report(game.createEvent(decision, 'start'));
  await erase('in the middle');
  game.advance(5_000);
  const { results } = await game.report(
    game.createImpression(decision),
    game.createCompletion(decision),
  );
  expect(results.map(({ status }) => status)).not.toContain('accepted');
  expect(await countRows([decision.id])).toMatchObject({ decisions: 0, timelines: 0 });
});

test('an erased player leaves the archives, and the week can still be dropped', async () => {
  const { database } = game.service;
  const folder = mkdtempSync(join(tmpdir(), 'trueward-archive-'));
  await createPartitions(database, game.clock.nowMs());
  const [id = ''] = await play('archived', false);
  const [otherId = ''] = await play('archived too', false);
  const weeks = (await listWeeks(database, Infinity)).filter(
    ({ isArchived, fromMs }) => isArchived && fromMs < Date.UTC(2090, 0),
  );
  for (const week of weeks) await archiveWeek(database, week, folder, game.clock, () => undefined);
  const read = (table: string): string =>
    weeks
      .filter((week) => week.table === table)
      .map(({ name }) => gunzipSync(readFileSync(join(folder, `${name}.jsonl.gz`))).toString())
      .join('');
  for (const table of ['decisions', 'timelines']) expect(read(table)).toContain(id);
  await erase('archived');
  // An erasure that somebody has canceled erases nothing more.
  await database.query(
    `INSERT INTO jobs (account_id, id, environment, kind, request, state, progress, counts, actor, created_at)
      SELECT account_id, 'job_canceled', environment, 'erasure', jsonb_build_object('viewer', viewer), 'canceled', 0,
        '{}', 'owner', issued_at FROM decisions WHERE id = $1`,
    [otherId],
  );
  const rewritten = await eraseFromArchives(database, folder);
  expect(rewritten.length).toBeGreaterThan(0);
  for (const table of ['decisions', 'timelines']) {
    expect(read(table)).not.toContain(id);
    expect(read(table)).toContain(otherId);
  }
  // The files match the database, so nothing has to be written again, and nothing is read again.
  for (const week of weeks)
    expect((await archiveWeek(database, week, folder, game.clock, () => undefined)).written).toBe(
      false,
    );
  expect(await eraseFromArchives(database, folder)).toEqual([]);
  rmSync(folder, { recursive: true });
});

test('data of child-directed requests is deleted after 30 days, other data is not', async () => {
  const childIds = await play('a child of old', true);
  const ids = await play('an adult of old', false);
  const sweep = async (days: number): Promise<void> => {
    game.advance(days * dayMs);
    const retention = { decisionsMs: undefined, auditMs: undefined, archiveDirectory: undefined };
    const { signal } = new AbortController();
    await deleteOldRows(game.service.database, game.clock.nowMs(), retention, signal);
  };
  const before = await countRows(childIds);
  await sweep(29);
  expect(await countRows(childIds)).toEqual(before);
  await sweep(2);
  expect(await countRows(childIds)).toMatchObject({ decisions: 0, timelines: 0 });
  expect(await countRows(ids)).toMatchObject({ decisions: 2, timelines: 1, webhook_events: 2 });
});
