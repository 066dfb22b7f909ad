import type { KeyPrincipal, Principal } from '../../src/access/principal.ts';
import { describe, expect, test } from 'vitest';
import { createUsageExchange, type UsageTotal } from '../../src/http/limits/open-rate-limits.ts';
import { createMac } from '../../src/access/secret-box.ts';
import { createLimitBuckets, createRateLimiter } from '../../src/http/limits/rate-limits.ts';
import { createTokenBuckets } from '../../src/http/limits/token-buckets.ts';
import { limitAll } from './fixtures.ts';

const rate = { perS: 100, burst: 400 };

/**
 * Simulates processes that share their usage every second. `send` returns how many requests a process receives in a
 * tenth of a second.
 */
function run(processes: number, seconds: number, send: (process: number, tenth: number) => number) {
  let nowMs = 0;
  const buckets = Array.from({ length: processes }, () => createTokenBuckets(rate, () => nowMs));
  const exchanges = buckets.map((ip) => createUsageExchange({ ip }, 'key'));
  const table = new Map<number, Map<string, UsageTotal>>();
  let names = new Set<string>();
  const exchange = (index: number): void => {
    const rows = table.get(index) ?? new Map<string, UsageTotal>();
    for (const use of exchanges[index]?.collect() ?? []) {
      rows.set(use.name, use);
      names = names.add(use.name);
    }
    table.set(index, rows);
    const otherEntries = [...table].filter(([other]) => other !== index);
    const reportedUses = otherEntries.flatMap(([other, uses]) =>
      [...uses.values()].map((use) => ({ ...use, processId: String(other) })),
    );
    exchanges[index]?.apply(processes, reportedUses);
  };
  let [admitted, laterAdmissions] = [0, 0];
  for (let index = 0; index < processes; index += 1) exchange(index);
  for (let tenth = 0; tenth < seconds * 10; tenth += 1) {
    nowMs = tenth * 100;
    for (const [index, bucket] of buckets.entries()) {
      for (let request = 0; request < send(index, tenth); request += 1) {
        if (!bucket.take('198.51.100.7').allowed) continue;
        admitted += 1;
        if (tenth >= seconds * 5) laterAdmissions += 1;
      }
      // The processes share their usage at staggered times within each second.
      if (tenth % 10 === index % 10) exchange(index);
    }
  }
  return { admitted, laterRatePerS: laterAdmissions / (seconds / 2), names: [...names] };
}

describe('a limit shared by several processes', () => {
  const flood = 60;
  test.each([1, 2, 4, 13])(
    'admits at most 25% more than the limit if a flood is spread evenly over %i processes',
    (processes) => {
      const { admitted, laterRatePerS } = run(processes, 240, () => Math.ceil(flood / processes));
      expect(laterRatePerS).toBeGreaterThanOrEqual(rate.perS * 0.95);
      expect(laterRatePerS).toBeLessThanOrEqual(rate.perS * 1.25);
      // On top of that, each process can drain its initially full bucket.
      expect(admitted).toBeLessThanOrEqual(
        processes * (rate.burst + rate.perS) + 240 * rate.perS * 1.25,
      );
    },
  );

  test('admits exactly the limit if a flood hits a single process', () => {
    const { laterRatePerS } = run(4, 120, (process) => (process === 2 ? flood : 0));
    expect(laterRatePerS).toBeCloseTo(rate.perS, 0);
  });

  test('admits at most 50% more than the limit, however a flood is distributed', () => {
    // Three processes stay just below the threshold for sharing their usage. The fourth process is flooded.
    const countQuietRequests = (tenth: number): number => (tenth % 10 < 1 ? 12 : 0);
    const { laterRatePerS } = run(4, 240, (process, tenth) =>
      process === 3 ? flood : countQuietRequests(tenth),
    );
    expect(laterRatePerS).toBeGreaterThan(rate.perS * 1.2);
    expect(laterRatePerS).toBeLessThanOrEqual(rate.perS * 1.5);
    const movingFlood = run(4, 240, (process, tenth) =>
      Math.floor(tenth / 30) % 4 === process ? flood : 0,
    );
    expect(movingFlood.laterRatePerS).toBeLessThanOrEqual(rate.perS * 1.5);
  });

  test('shares only the hashed identifiers of clients that send many requests', () => {
    expect(run(4, 60, (_process, tenth) => (tenth % 20 === 0 ? 1 : 0)).names).toEqual([]);
    expect(run(4, 10, () => flood).names).toEqual([
      createMac('key')('ip\n198.51.100.7').slice(0, 22),
    ]);
  });
});

/** Creates a limiter whose clock stands still. */
function createLimiter(waits = { key: 1, address: 1 }) {
  const limits = limitAll(rate, waits);
  const buckets = createLimitBuckets(limits, () => 0);
  const reply = { getHeader: () => undefined, header: () => reply } as never;
  return { limiter: createRateLimiter(limits, buckets), reply };
}

test('signed-in requests are limited for each user', () => {
  const { limiter, reply } = createLimiter();
  const send = (userId: string) => limiter.onSession({ accountId: 'acc_1', userId }, reply);
  for (let request = 0; request < 300; request += 1) send('usr_1');
  expect(() => send('usr_1')).toThrow('Too many requests by this user.');
  expect(() => send('usr_2')).not.toThrow();
});

test('wrong codes for other devices are limited for each account, whatever IPs they come from', () => {
  const { limiter, reply } = createLimiter();
  let ips = 0;
  const guess = (accountId: string) => {
    ips += 1;
    const client = { ip: `10.0.${ips >> 8}.${ips & 255}` };
    return limiter.onLinkCode({ accountId } as Principal, client, reply);
  };
  // A right code doesn't count.
  for (let link = 0; link < 1_000; link += 1) guess('acc_1')();
  for (let request = 0; request < 300; request += 1) guess('acc_1');
  expect(() => guess('acc_1')).toThrow('Too many requests with wrong codes in this account.');
  expect(() => guess('acc_2')).not.toThrow();
});

test.each(['onUser', 'onSpend'] as const)(
  '%s limits one player of one account in one environment',
  (count) => {
    const { limiter, reply } = createLimiter();
    const send = (accountId: string, environment: 'live' | 'sandbox', player: string) =>
      limiter[count]({ accountId, environment } as Principal, player, reply);
    for (let request = 0; request < rate.burst; request += 1) send('acc_1', 'live', 'ann');
    expect(() => send('acc_1', 'live', 'ann')).toThrow('Too many requests for this user.');
    expect(() => send('acc_2', 'live', 'ann')).not.toThrow();
    expect(() => send('acc_1', 'sandbox', 'ann')).not.toThrow();
    expect(() => send('acc_1', 'live', 'bob')).not.toThrow();
  },
);

test('a key’s own limit is at most the highest one of the service', () => {
  const { limiter, reply } = createLimiter();
  const key = { kind: 'sk', keyId: 'key_1', environment: 'live' } as KeyPrincipal;
  const rateLimit = { perS: 1_000_000, burst: 1_000_000 };
  const send = () => limiter.onKey({ ...key, rateLimit }, { ip: '198.51.100.1' }, reply);
  for (let request = 0; request < rate.burst; request += 1) send();
  expect(send).toThrow('Too many requests with this key.');
});

test('of a key’s own limit and the highest one of the service, the lower rate and the lower burst count', () => {
  const keyCeiling = { perS: 2, burst: 5 };
  let nowMs = 0;
  const limits = { ...limitAll(rate, { key: 1, address: 1 }), keyCeiling };
  const reply = { getHeader: () => undefined, header: () => reply } as never;
  const limiter = createRateLimiter(
    limits,
    createLimitBuckets(limits, () => nowMs),
  );
  const key = { kind: 'sk', keyId: 'key_1', environment: 'live' } as KeyPrincipal;
  const rateLimit = { perS: 1_000, burst: 1_000 };
  const send = () => limiter.onKey({ ...key, rateLimit }, { ip: '198.51.100.1' }, reply);
  for (let request = 0; request < 5; request += 1) send();
  expect(send).toThrow('Too many requests with this key.');
  nowMs = 1_000;
  send();
  send();
  expect(send).toThrow('Too many requests with this key.');
});

test('a player’s spends don’t use up the decisions', () => {
  const { limiter, reply } = createLimiter();
  const player = { accountId: 'acc_1', environment: 'live' } as Principal;
  for (let request = 0; request < rate.burst; request += 1) limiter.onSpend(player, 'ann', reply);
  expect(() => limiter.onSpend(player, 'ann', reply)).toThrow();
  expect(() => limiter.onUser(player, 'ann', reply)).not.toThrow();
});

test('guesses that an IP may not make any more don’t count for the account', () => {
  const { limiter, reply } = createLimiter();
  const guess = (ip: string) =>
    limiter.onLinkCode({ accountId: 'acc_1' } as Principal, { ip }, reply);
  for (let request = 0; request < 10; request += 1) guess('198.51.100.1');
  for (let request = 0; request < 400; request += 1)
    expect(() => guess('198.51.100.1')).toThrow('with unknown credentials from this IP');
  expect(() => guess('198.51.100.2')).not.toThrow();
});

interface Waiting {
  decision: string;
  key: string;
  ip: string;
  kind: 'pk' | 'sk';
}
const one: Waiting = { decision: 'dec_1', key: 'key_1', ip: '10.0.0.1', kind: 'pk' };
test.each<[string, limit: number, (n: number) => Partial<Waiting>, free: Partial<Waiting>]>([
  ['for this decision', 4, (n) => ({ key: `${n}`, ip: `10.0.0.${n}` }), { decision: 'dec_2' }],
  ['with this key', 3, (n) => ({ decision: `${n}`, ip: `10.0.0.${n}` }), { key: 'key_2' }],
  ['from this IP', 2, (n) => ({ decision: `${n}`, key: `${n}` }), { ip: '10.0.0.2' }],
  // The IP is that of the customer's server.
  ['with this key', 3, (n) => ({ decision: `${n}`, kind: 'sk' }), { key: 'key_2' }],
])('requests that wait %s are limited to %i at a time', (what, limit, differ, free) => {
  const { limiter } = createLimiter({ key: 3, address: 2 });
  const wait = (changes: Partial<Waiting>) => {
    const { decision, key, ip, kind } = { ...one, ...changes };
    return limiter.onWait({ kind, keyId: key } as Principal, { ip }, decision);
  };
  const [release] = Array.from({ length: limit }, (_, n) => wait(differ(n)));
  const next = () => wait(differ(limit));
  expect(next).toThrow(`${limit} requests are already waiting ${what};`);
  wait({ ...differ(limit + 1), ...free });
  release?.();
  release?.();
  next();
  expect(next).toThrow(`${limit} requests are already waiting ${what};`);
});

test('a process holds 10,000 waiting requests, even without rate limits', () => {
  const limiter = createRateLimiter(undefined, undefined);
  const wait = (n: number) =>
    limiter.onWait({ kind: 'pk', keyId: 'key_1' } as Principal, { ip: '10.0.0.1' }, `dec_${n}`);
  for (let n = 0; n < 10_000; n += 1) wait(n);
  expect(() => wait(10_000)).toThrow('10000 requests are already waiting; omit wait_s');
});
