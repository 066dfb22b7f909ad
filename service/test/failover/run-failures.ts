import { startCluster } from '../faults/cluster.ts';
import { startPlayers } from '../faults/players.ts';
import { untilDelivered, type Verdict, verify } from '../faults/verify.ts';
import { createClient } from '../http/client.ts';
import { startReceiver } from '../http/receiver.ts';
import { type Interruption, startCanary } from './canary.ts';
import type { Failure } from './failures.ts';
import { startPatroni } from './patroni.ts';

interface Options {
  /** The next one, given the minutes since the start; undefined ends the run. */
  next(minutes: number): Failure | undefined;
  players: number;
  onFailure?(result: FailureResult): void;
}

/** Results of each process's clients. */
export interface FailureResult {
  name: string;
  /** Of the process that connects through HAProxy. */
  proxy: Interruption;
  /** Of the process that knows all three servers. */
  hosts: Interruption;
}

export interface FailoverReport extends Verdict {
  failures: FailureResult[];
  decisions: number;
  events: number;
  rewards: number;
  /** Responses that no failure justifies. */
  wrong: string[];
}

/** Rewards, each from a new decision, that show that the service has recovered. */
const recoveryRewards = 10;
/** The primary is replaced within this time, and players retry for longer. */
const retryForMs = 120_000;

/** Causes failures one after the other in a PostgreSQL cluster, under the load of whole ads on two processes. */
export async function runFailures({
  next,
  players: count,
  onFailure,
}: Options): Promise<FailoverReport> {
  const disposers: (() => Promise<unknown>)[] = [];
  const own = <T>(resource: T, dispose: (resource: T) => Promise<unknown>): T => {
    disposers.unshift(() => dispose(resource));
    return resource;
  };
  try {
    const patroni = own(await startPatroni(), (each) => each.stop());
    await patroni.untilHealthy();
    const cluster = own(
      await startCluster({
        databaseUrl: [patroni.proxyUrl, patroni.hostsUrl],
        processes: 2,
        // The default, as the published times depend on it.
        env: { DATABASE_TIMEOUT_S: '10' },
      }),
      (each) => each.stop(),
    );
    const receiver = own(await startReceiver(), (each) => each.close());
    const client = createClient({ url: cluster.urls[0] ?? '', keys: cluster.keys });
    await client.call('POST', '/v1/webhooks', client.secret, {
      url: receiver.url,
      events: ['decision.rewarded'],
    });
    const players = own(
      startPlayers({ urls: cluster.urls, key: client.publishable, count, retryForMs }),
      (each) => each.stop(),
    );
    const [proxy, hosts] = cluster.urls.map((url) =>
      own(startCanary(url, client.publishable), (each) => each.stop()),
    );
    if (!proxy || !hosts) throw new Error('There are two processes.');
    await players.progress(recoveryRewards);

    const results: FailureResult[] = [];
    const startedMs = performance.now();
    const minutes = (): number => (performance.now() - startedMs) / 60_000;
    for (let failure = next(minutes()); failure; failure = next(minutes())) {
      const members = await patroni.untilHealthy();
      const failedMs = performance.now();
      await failure.run(patroni, members);
      await patroni.untilHealthy();
      await players.progress(recoveryRewards);
      const result = {
        name: failure.name,
        proxy: proxy.read(failedMs),
        hosts: hosts.read(failedMs),
      };
      results.push(result);
      onFailure?.(result);
    }
    await Promise.all([players, proxy, hosts].map((each) => each.stop()));
    await untilDelivered(patroni.proxyUrl);
    const { events, rewards } = players.acknowledged;
    const decisions = [
      players.acknowledged.decisions,
      proxy.acknowledged,
      hosts.acknowledged,
    ].flatMap((ids) => [...ids]);
    const acknowledged = { decisions: new Set(decisions), events, rewards };
    const verdict = await verify(patroni.proxyUrl, acknowledged, receiver.received);
    return {
      ...verdict,
      failures: results,
      decisions: decisions.length,
      events: events.size,
      rewards: rewards.size,
      wrong: players.wrong,
    };
  } finally {
    for (const dispose of disposers) await dispose();
  }
}
