import { Pool } from 'undici';
import type { InProcessService } from '../../../service/test/in-process.ts';
import {
  describeLatencies,
  type Finding,
  measureDecisions,
  print,
  quantile,
  sleep,
} from './measure.ts';

const perSecond = 1_000;
const seconds = 10;
const addresses = 8;

/** One request with an invented credential of each kind. */
const attempts = (
  index: number,
  key: string,
): { path: string; headers: Record<string, string>; body?: string }[] => {
  const json = { 'content-type': 'application/json' };
  return [
    { path: '/panel/api/session', headers: { cookie: `trueward_session=acc_1.${index}` } },
    {
      path: '/v1/keys',
      headers: { cookie: `trueward_session=acc_1.${index}`, 'trueward-environment': 'live' },
    },
    { path: '/v1/keys', headers: { authorization: `Bearer sk_live_${index}` } },
    { path: `/panel/api/setup?token=t${index}`, headers: {} },
    { path: `/v1/decisions/dec_${index}`, headers: { authorization: `Bearer token-${index}` } },
    {
      path: `/v1/decisions/dec_${index}`,
      headers: { authorization: `Bearer ${key}`, 'decision-token': `1~${index}` },
    },
    {
      path: '/v1/wallet',
      headers: { authorization: `Bearer ${key}`, 'player-token': `ply.e30.${index}.a` },
    },
    {
      path: '/v1/decisions',
      headers: { ...json, authorization: `Bearer ${key}` },
      body: `{"placement":"revive","user_token":"e30.${index}.a"}`,
    },
    { path: '/readyz', headers: {} },
    {
      path: '/panel/api/session',
      headers: json,
      body: `{"email":"a${index}@b.example","password":"long enough, invented"}`,
    },
  ];
};

/** Sends invented credentials, and counts the database statements that they cause. */
export async function benchCredentials(running: InProcessService): Promise<Finding[]> {
  const { database } = running.service;
  const { query } = database;
  let statements = 0;
  database.query = (text, params) => {
    statements += 1;
    return query.call(database, text, params) as never;
  };
  // What the service does in the background, such as reading the configuration.
  const idle = await countDuring(
    () => sleep(seconds * 1_000),
    () => statements,
  );
  const quiet = await measureDecisions(running, sleep(seconds * 1_000));

  const pool = new Pool(running.url, { connections: 64, pipelining: 1 });
  const statuses = new Map<number, number>();
  const send = async (index: number): Promise<void> => {
    const kinds = attempts(index, running.keys.live.publishable);
    const { path, headers, body } = kinds[index % kinds.length] ?? { path: '/', headers: {} };
    const response = await pool.request({
      path,
      method: body === undefined ? 'GET' : 'POST',
      headers: {
        ...headers,
        ...(body === undefined ? {} : { origin: running.url }),
        'x-forwarded-for': `192.0.2.${index % addresses}`,
      },
      ...(body === undefined ? {} : { body }),
    });
    await response.body.dump();
    statuses.set(response.statusCode, (statuses.get(response.statusCode) ?? 0) + 1);
  };
  const flood = async (): Promise<void> => {
    const open = new Set<Promise<void>>();
    const startedAtMs = performance.now();
    for (let index = 0; index < perSecond * seconds; index += 1) {
      const waitMs = startedAtMs + (index / perSecond) * 1_000 - performance.now();
      if (waitMs > 1) await sleep(waitMs);
      const sending = send(index).finally(() => open.delete(sending));
      open.add(sending);
    }
    await Promise.all(open);
  };
  const startedAtMs = performance.now();
  const caused = await countDuring(flood, () => statements);
  const tookS = (performance.now() - startedAtMs) / 1_000;
  const busy = await measureDecisions(running, flood());
  database.query = query;
  await pool.close();
  const rate = ((perSecond * seconds) / tookS).toFixed(0);
  const list = [...statuses].map(([status, count]) => `${count} × ${status}`).join(', ');
  const background = (idle * tookS) / seconds;
  const perAddress = Math.max(0, caused - background) / addresses;
  print(
    `${perSecond * seconds} invented credentials from ${addresses} IPs, ${rate} a second: ${list}`,
  );
  print(`  ${caused} database statements, ${background.toFixed(0)} without them`);
  print(`  decisions before: ${describeLatencies(quiet)}`);
  print(`  decisions meanwhile: ${describeLatencies(busy)}`);
  return [
    // An IP may look up ten credentials, and one more every five seconds. Half of the IPs also guess passwords: 20 guesses
    // cost four statements each. Then the IP is locked, and each second one guess is checked for a user who is known there.
    {
      name: 'statements per IP',
      value: perAddress,
      unit: '',
      bound: 12 + (20 * 4 + 2 * seconds) / 2,
    },
    {
      name: 'p99 of decisions meanwhile',
      value: quantile(busy, 0.99),
      unit: 'ms',
      bound: 100,
    },
  ];
}

async function countDuring(work: () => Promise<void>, read: () => number): Promise<number> {
  const before = read();
  await work();
  return read() - before;
}
