import type { AuditEntry, Placement, Problem, Retention } from '@trueward/protocol/wire';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { deleteOldRows } from '../../src/history/delete-old-rows.ts';
import { ownRowsBy } from '../neighbor.ts';
import { createClient } from './client.ts';
import { type Game, startGame } from './reward-game.ts';

let game: Game;
beforeAll(async () => {
  game = await startGame();
});
afterAll(() => game.stop());

const dayMs = 86_400_000;
const service = { decisionsMs: 395 * dayMs, auditMs: 730 * dayMs, archiveDirectory: undefined };

const live = () => createClient(game, 'live');
const setRetention = (body: object) =>
  game.client.call<Retention & Problem>('PUT', '/v1/retention', live().secret, body);
const readRetention = () => game.client.manage<Retention>('GET', '/v1/retention');

const asSetByService = {
  decision_days: 395,
  audit_days: 730,
  child_directed_days: 30,
  max_decision_days: 395,
  max_audit_days: 730,
};

test('an account keeps its data as long as the service does, or less', async () => {
  expect(await readRetention()).toEqual(asSetByService);
  const { status, body } = await setRetention({ decision_days: 60, audit_days: 100 });
  expect([status, body]).toEqual([200, { ...asSetByService, decision_days: 60, audit_days: 100 }]);
  expect(await readRetention()).toEqual(body);
  const entries = await live().manage<{ data: AuditEntry[] }>('GET', '/v1/audit-entries');
  expect(entries.data.find(({ action }) => action === 'retention.set')).toMatchObject({
    before: { decision_days: 395 },
    after: { decision_days: 60 },
  });
  expect((await setRetention({})).body).toEqual(asSetByService);
});

test.each([
  [{ decision_days: 396 }, '/decision_days', /at most 395/],
  [{ audit_days: 731 }, '/audit_days', /at most 730/],
  [{ decision_days: 13 }, '/decision_days', /14/],
  [{ audit_days: 29 }, '/audit_days', /30/],
  [{ decision_days: 14.5 }, '/decision_days', /whole number/],
  [{ decision_days: null }, '/decision_days', /whole number/],
  [{ child_directed_days: 60 }, '/child_directed_days', /./],
])('the retention %j is rejected, and nothing changes', async (body, pointer, message) => {
  const { status, body: problem } = await setRetention(body);
  expect([status, problem.errors?.[0]?.pointer]).toEqual([422, pointer]);
  expect(problem.errors?.[0]?.message).toMatch(message);
  expect(await readRetention()).toEqual(asSetByService);
});

test('no placement looks back longer than the account keeps its decisions', async () => {
  const day = 86_400;
  const placement = { name: 'once-a-month', format: 'interstitial' };
  const cap = (days: number) => ({ frequency_cap: { max: 1, per_s: days * day } });
  const { id } = await game.client.manage<Placement>('POST', '/v1/placements', {
    ...placement,
    ...cap(30),
  });
  const { status, body } = await setRetention({ decision_days: 20 });
  expect([status, body.errors?.[0]?.message]).toEqual([
    422,
    'must be at least 30, because the sandbox placement once-a-month looks back so many days, for its caps or late completions',
  ]);
  expect((await setRetention({ decision_days: 30 })).status).toBe(200);
  const longer = await game.client.call<Problem>(
    'PATCH',
    `/v1/placements/${id}`,
    game.client.secret,
    cap(31),
  );
  expect([longer.status, longer.body.errors?.[0]?.pointer]).toEqual([422, '/frequency_cap/per_s']);
  await game.client.manage('DELETE', `/v1/placements/${id}`);
  await setRetention({});
});

test('what an account no longer keeps is deleted, and nothing of others', async () => {
  const { database } = game.service;
  const count = async (table: string): Promise<number> => {
    const [row] = await database.query<{ count: number }>(
      `SELECT count(*)::bigint AS count FROM ${table} t WHERE ${ownRowsBy('t::text')}`,
    );
    return row?.count ?? NaN;
  };
  const countAll = async (): Promise<number[]> => {
    const tables = ['decisions', 'timelines', 'webhook_events'];
    return Promise.all(tables.map(count));
  };
  const sweep = () =>
    deleteOldRows(database, game.clock.nowMs(), service, new AbortController().signal);
  await game.client.manage('POST', '/v1/webhooks', {
    url: 'https://hooks.example/a',
    events: ['decision.rewarded'],
  });
  await game.watch(await game.decide('of old'));
  const old = await countAll();
  game.advance(40 * dayMs);
  await game.watch(await game.decide('of late'));
  const both = await countAll();
  await sweep();
  expect(await countAll()).toEqual(both);

  await setRetention({ decision_days: 41 });
  await sweep();
  expect(await countAll()).toEqual(both);
  await setRetention({ decision_days: 39 });
  await sweep();
  expect(await countAll()).toEqual(both.map((rows, index) => rows - (old[index] ?? NaN)));
  await setRetention({});
});

test('a sandbox key cannot shorten how long live data is kept', async () => {
  const { call, secret } = game.client;
  const { status, body } = await call<Problem>('PUT', '/v1/retention', secret, {
    decision_days: 14,
  });
  expect([status, body.code]).toEqual([403, 'environment_mismatch']);
  expect(await readRetention()).toEqual(asSetByService);
});
