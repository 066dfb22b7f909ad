import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createClient } from '../http/client.ts';
import { startReceiver } from '../http/receiver.ts';
import { startPrivatePostgres } from '../private-postgres.ts';
import { startCluster } from './cluster.ts';
import type { Fault } from './faults.ts';
import { verifyWallets } from '../kills/compare-wallets.ts';
import { startWalletPlayers } from '../kills/wallet-players.ts';
import { type Players, startPlayers } from './players.ts';
import { startTcpProxy } from './tcp-proxy.ts';
import { waitUntilDelivered, type Verdict, verify } from './verify.ts';

interface Options {
  faults: readonly Fault[];
  players: number;
  /** Injects the faults without waiting for the service to recover in between. */
  backToBack?: boolean;
  onFault?(text: string): void;
}

export interface FaultReport extends Verdict {
  decisions: number;
  events: number;
  rewards: number;
  /** Confirmed credits and spends. */
  walletChanges: number;
  /** Wallets that differ from what the service has confirmed. */
  wallets: string[];
  /** The number of requests that got a 503 or no response. */
  rejected: number;
  /** Responses with a status other than 200 or 503. There must be none, regardless of the fault. */
  unexpectedResponses: string[];
  /** The faults that could not be injected, with reasons. */
  skipped: string[];
}

/** Players without a server, whose wallets are compared with what the service has confirmed. */
const walletPlayers = 8;
/** The service is considered recovered once this many new decisions have earned their reward. */
const recoveryRewards = 10;

/**
 * Injects faults one at a time while players watch ads from two service processes. Returns undefined if PostgreSQL is
 * not installed.
 */
export async function injectFaults({
  faults,
  players: count,
  backToBack = false,
  onFault,
}: Options): Promise<FaultReport | undefined> {
  const disposers: (() => Promise<unknown>)[] = [];
  const trackResource = <T>(resource: T, dispose: (resource: T) => Promise<unknown>): T => {
    disposers.unshift(() => dispose(resource));
    return resource;
  };
  const disk = trackResource(mountSmallDisk(), async (folder) => unmount(folder));
  try {
    const postgres = await startPrivatePostgres({
      ...(disk === undefined ? {} : { folder: disk }),
      settings: ['max_wal_size=64MB', 'min_wal_size=32MB'],
    });
    if (!postgres) return undefined;
    trackResource(postgres, (server) => server.stop());
    const proxy = trackResource(
      await startTcpProxy(Number(new URL(postgres.url).port)),
      (resource) => resource.close(),
    );
    const databaseUrl = postgres.url.replace(/:\d+\//, `:${proxy.port}/`);
    const cluster = trackResource(await startCluster({ databaseUrl, processes: 2 }), (resource) =>
      resource.stop(),
    );
    const receiver = trackResource(await startReceiver(), (resource) => resource.close());
    const client = createClient({ url: cluster.urls[0] ?? '', keys: cluster.keys });
    await client.call('POST', '/v1/webhooks', client.secret, {
      url: receiver.url,
      events: ['decision.rewarded'],
    });
    const players = trackResource(
      startPlayers({ urls: cluster.urls, key: client.publishable, count }),
      (resource) => resource.stop(),
    );
    const session = trackResource(
      startWalletPlayers({ urls: cluster.urls, key: client.publishable, count: walletPlayers }),
      (resource) => resource.abandon(),
    );
    await players.waitForRewards(recoveryRewards);
    onFault?.(`Before: ${describe(players)}`);
    const skipped: string[] = [];
    for (const fault of faults) {
      const rejectedBefore = players.countRejections();
      const reason = await fault.run({
        cluster,
        postgres,
        proxy,
        hasSmallDisk: disk !== undefined,
      });
      if (reason !== undefined) skipped.push(`${fault.name}: ${reason}`);
      if (!backToBack) await players.waitForRewards(recoveryRewards);
      const outcome = reason ?? `${players.countRejections() - rejectedBefore} rejected`;
      onFault?.(`${fault.name}: ${outcome}; ${describe(players)}`);
    }
    if (backToBack) await players.waitForRewards(recoveryRewards);
    await players.stop();
    const walletChanges = session.countChanges();
    const wallets = await verifyWallets(postgres.url, session);
    await waitUntilDelivered(postgres.url);
    const verdict = await verify(postgres.url, players.acknowledged, receiver.requests);
    const { decisions, events, rewards } = players.acknowledged;
    return {
      ...verdict,
      wallets,
      walletChanges,
      decisions: decisions.size,
      events: events.size,
      rewards: rewards.size,
      rejected: players.countRejections(),
      unexpectedResponses: players.unexpectedResponses,
      skipped,
    };
  } finally {
    for (const dispose of disposers) await dispose();
  }
}

const describe = ({ acknowledged }: Players): string =>
  `${acknowledged.decisions.size} decisions, ${acknowledged.events.size} events and ${acknowledged.rewards.size} rewards acknowledged so far`;

/** Mounts a small file system. Returns undefined if the user has no permission to mount one. */
function mountSmallDisk(): string | undefined {
  const folder = mkdtempSync(join(tmpdir(), 'trueward-disk-'));
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=320m', 'tmpfs', folder], { stdio: 'ignore' });
    return folder;
  } catch {
    rmSync(folder, { recursive: true });
    return undefined;
  }
}

function unmount(folder: string | undefined): void {
  if (folder === undefined) return;
  execFileSync('umount', ['--lazy', folder], { stdio: 'ignore' });
  rmSync(folder, { recursive: true, force: true });
}
