import { startCluster } from '../faults/cluster.ts';
import { startPlayers } from '../faults/players.ts';
import { verifyWallets } from '../kills/compare-wallets.ts';
import { startWalletPlayers } from '../kills/wallet-players.ts';
import { waitUntilDelivered, type Verdict, verify } from '../faults/verify.ts';
import { createClient } from '../http/client.ts';
import { startReceiver } from '../http/receiver.ts';
import { type Interruption, startCanary } from './canary.ts';
import type { Failure } from './failures.ts';
import { startPatroni } from './patroni.ts';

interface Options {
  /** Returns the next failure to inject, or undefined to end the run. `minutes` is the time since the run started. */
  next(minutes: number): Failure | undefined;
  players: number;
  onFailure?(result: FailureResult): void;
}

/** How a failure affected each process's clients. */
export interface FailureResult {
  name: string;
  /** For the process that connects through HAProxy. */
  proxy: Interruption;
  /** For the process whose database URL lists all three servers. */
  hosts: Interruption;
}

export interface FailoverReport extends Verdict {
  failures: FailureResult[];
  decisions: number;
  events: number;
  rewards: number;
  /** Confirmed credits and spends. */
  walletChanges: number;
  /** Wallets that differ from what the service has confirmed. */
  wallets: string[];
  /** Responses with a status other than 200 or 503. There must be none, regardless of the failure. */
  unexpectedResponses: string[];
}

/** Players without a server, whose wallets are compared with what the service has confirmed. */
const walletPlayers = 8;
/** The service is considered recovered once this many new decisions have earned their reward. */
const recoveryRewards = 10;
/** How long a player retries a request. Longer than any failover takes. */
const retryForMs = 120_000;

/** Injects failures into a PostgreSQL cluster one at a time while players watch ads from two service processes. */
export async function runFailures({
  next,
  players: count,
  onFailure,
}: Options): Promise<FailoverReport> {
  const disposers: (() => Promise<unknown>)[] = [];
  const trackResource = <T>(resource: T, dispose: (resource: T) => Promise<unknown>): T => {
    disposers.unshift(() => dispose(resource));
    return resource;
  };
  try {
    const patroni = trackResource(await startPatroni(), (resource) => resource.stop());
    await patroni.waitUntilHealthy();
    const cluster = trackResource(
      await startCluster({
        databaseUrl: [patroni.proxyUrl, patroni.hostsUrl],
        processes: 2,
        // The published recovery times were measured with this value, which is the default.
        env: { DATABASE_TIMEOUT_S: '10' },
      }),
      (resource) => resource.stop(),
    );
    const receiver = trackResource(await startReceiver(), (resource) => resource.close());
    const client = createClient({ url: cluster.urls[0] ?? '', keys: cluster.keys });
    await client.call('POST', '/v1/webhooks', client.secret, {
      url: receiver.url,
      events: ['decision.rewarded'],
    });
    const players = trackResource(
      startPlayers({ urls: cluster.urls, key: client.publishable, count, retryForMs }),
      (resource) => resource.stop(),
    );
    const [proxy, hosts] = cluster.urls.map((url) =>
      trackResource(startCanary(url, client.publishable), (resource) => resource.stop()),
    );
    if (!proxy || !hosts) throw new Error('Expected two processes.');
    const session = trackResource(
      startWalletPlayers({ urls: cluster.urls, key: client.publishable, count: walletPlayers }),
      (resource) => resource.abandon(),
    );
    await players.waitForRewards(recoveryRewards);

    const results: FailureResult[] = [];
    const startedAtMs = performance.now();
    const minutes = (): number => (performance.now() - startedAtMs) / 60_000;
    for (let failure = next(minutes()); failure; failure = next(minutes())) {
      const members = await patroni.waitUntilHealthy();
      const failedAtMs = performance.now();
      await failure.run(patroni, members);
      await patroni.waitUntilHealthy();
      await players.waitForRewards(recoveryRewards);
      const result = {
        name: failure.name,
        proxy: proxy.read(failedAtMs),
        hosts: hosts.read(failedAtMs),
      };
      results.push(result);
      onFailure?.(result);
    }
    await Promise.all([players, proxy, hosts].map((resource) => resource.stop()));
    const walletChanges = session.countChanges();
    const wallets = await verifyWallets(patroni.proxyUrl, session);
    await waitUntilDelivered(patroni.proxyUrl);
    const { events, rewards } = players.acknowledged;
    const decisions = [
      players.acknowledged.decisions,
      proxy.acknowledged,
      hosts.acknowledged,
    ].flatMap((ids) => [...ids]);
    const acknowledged = { decisions: new Set(decisions), events, rewards };
    const verdict = await verify(patroni.proxyUrl, acknowledged, receiver.requests);
    return {
      ...verdict,
      wallets,
      walletChanges,
      failures: results,
      decisions: decisions.length,
      events: events.size,
      rewards: rewards.size,
      unexpectedResponses: players.unexpectedResponses,
    };
  } finally {
    for (const dispose of disposers) await dispose();
  }
}
