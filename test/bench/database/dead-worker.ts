import { setTimeout as sleep } from 'node:timers/promises';
import type { Decision } from '../../../protocol/wire.ts';
import { percentile } from '../outbox/statistics.ts';
import type { Side } from './side.ts';

/** One account's results while a worker was down. */
export interface AccountRow {
  account: 'on the killed worker' | 'on another worker';
  requests: number;
  succeeded: number;
  /**
   * Response times (50th and 99th percentiles) of the successful requests, or of the failed requests if none succeeded.
   */
  ms: [number, number];
  /** How many decisions were acknowledged, both before and after the worker was killed. */
  acknowledged: number;
  /** How many of these decisions are in the database after the worker's restart. */
  stored: number;
}

interface Account {
  id: string;
  key: string;
  port: number;
}

const concurrency = 8;
const maxAccounts = 12;

/** Serves two accounts with one process. Kills the worker that stores one of the accounts, and restarts it afterwards. */
export async function killWorker(side: Side, windowMs: number): Promise<AccountRow[]> {
  const [killedAccount, otherAccount] = await createTwoAccounts(side);
  const server = side.servers.find(({ port }) => port === killedAccount.port);
  if (!server)
    throw new Error(`The worker on port ${killedAccount.port} is not among the servers.`);
  // Prefers a host that stays up, so that the process does not have to fail over to another host.
  const url = side.urls.find((candidate) => Number(new URL(candidate).port) !== killedAccount.port);
  const service = await side.start(url ?? (side.urls[0] as string), 'first');
  try {
    const resultsBefore = await Promise.all(
      [killedAccount, otherAccount].map((account) =>
        requestDecisions(service.url, account, windowMs),
      ),
    );
    let resultsAfter: RequestResults[];
    try {
      server.kill();
      resultsAfter = await Promise.all(
        [killedAccount, otherAccount].map((account) =>
          requestDecisions(service.url, account, windowMs),
        ),
      );
    } finally {
      server.restart();
    }
    const rows: AccountRow[] = [];
    for (const [index, account] of [killedAccount, otherAccount].entries()) {
      const { okMs, failedMs, ids } = resultsAfter[index] as RequestResults;
      const allIds = [...(resultsBefore[index]?.ids ?? []), ...ids];
      const measuredMs = okMs.length > 0 ? okMs : failedMs;
      rows.push({
        account: index === 0 ? 'on the killed worker' : 'on another worker',
        requests: okMs.length + failedMs.length,
        succeeded: okMs.length,
        ms: [percentile(measuredMs, 0.5) ?? NaN, percentile(measuredMs, 0.99) ?? NaN],
        acknowledged: allIds.length,
        stored: await countStored(side, account, allIds),
      });
    }
    return rows;
  } finally {
    await service.stop();
  }
}

/** Creates two demo accounts whose shards are on different workers. */
async function createTwoAccounts(side: Side): Promise<[Account, Account]> {
  const startedAccounts: Account[] = [];
  const readAccountIds = async (): Promise<string[]> =>
    (await side.admin.query<{ id: string }>('SELECT account_id AS id FROM accounts')).map(
      ({ id }) => id,
    );
  let knownIds = await readAccountIds();
  for (let index = 0; index < maxAccounts; index += 1) {
    const service = await side.start(side.urls[0] as string, index === 0 ? 'first' : `n${index}`);
    const { publishable } = service.keys.live;
    await service.stop();
    const allIds = await readAccountIds();
    const id = allIds.find((candidate) => !knownIds.includes(candidate));
    if (id === undefined) throw new Error('Expected the service to add a demo account.');
    knownIds = allIds;
    const [shard] = await side.admin.query<{ port: number }>(
      `SELECT nodeport AS port FROM citus_shards
        WHERE shardid = get_shard_id_for_distribution_column('accounts', $1::text)`,
      [id],
    );
    if (!shard) throw new Error(`Account ${id} has no shard.`);
    const newAccount = { id, key: publishable, port: shard.port };
    startedAccounts.push(newAccount);
    const otherAccount = startedAccounts.find(({ port }) => port !== newAccount.port);
    if (otherAccount) return [newAccount, otherAccount];
  }
  throw new Error(
    `All ${maxAccounts} accounts are on one worker; expected at least two workers with shards.`,
  );
}

interface RequestResults {
  okMs: number[];
  failedMs: number[];
  /** Ids of the acknowledged decisions. */
  ids: string[];
}

let players = 0;

async function requestDecisions(
  url: string,
  { key }: Account,
  windowMs: number,
): Promise<RequestResults> {
  const results: RequestResults = { okMs: [], failedMs: [], ids: [] };
  const endAtMs = performance.now() + windowMs;
  const play = async (): Promise<void> => {
    while (performance.now() < endAtMs) {
      const startedAtMs = performance.now();
      const response = await fetch(`${url}/v1/decisions`, {
        method: 'POST',
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
        body: JSON.stringify({ placement: 'revive', user_ref: `player-${(players += 1)}` }),
      });
      const text = await response.text();
      (response.ok ? results.okMs : results.failedMs).push(performance.now() - startedAtMs);
      if (response.ok) results.ids.push((JSON.parse(text) as Decision).id);
      // Like a real player, wait before retrying a failed request.
      else await sleep(50);
    }
  };
  await Promise.all(Array.from({ length: concurrency }, play));
  return results;
}

/** Counts how many of the decisions are stored. Waits up to a minute for the restarted worker. */
async function countStored({ admin }: Side, { id }: Account, ids: string[]): Promise<number> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      const [row] = await admin.query<{ stored: number }>(
        'SELECT count(*)::bigint AS stored FROM decisions WHERE account_id = $1 AND id = ANY($2)',
        [id, ids],
      );
      return row?.stored ?? 0;
    } catch (error) {
      if (attempt === 120) throw error;
      await sleep(500);
    }
  }
}
