import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createClient } from '../http/client.ts';
import { startReceiver } from '../http/receiver.ts';
import { startPrivatePostgres } from '../private-postgres.ts';
import { startCluster } from './cluster.ts';
import type { Fault } from './faults.ts';
import { type Players, startPlayers } from './players.ts';
import { startTcpProxy } from './tcp-proxy.ts';
import { untilDelivered, type Verdict, verify } from './verify.ts';

interface Options {
  faults: readonly Fault[];
  players: number;
  /** Causes the next fault immediately, instead of waiting for recovery. */
  hasty?: boolean;
  onFault?(text: string): void;
}

export interface FaultReport extends Verdict {
  decisions: number;
  events: number;
  rewards: number;
  /** Requests that were rejected or got no response. */
  refused: number;
  /** Responses that no fault may cause. */
  wrong: string[];
  /** Faults that could not be caused here, and why. */
  skipped: string[];
}

/** This many rewards mean that everything works again. */
const recovered = 10;

/** Causes one fault after the other on two processes under load; undefined without PostgreSQL. */
export async function runFaults({
  faults,
  players: count,
  hasty = false,
  onFault,
}: Options): Promise<FaultReport | undefined> {
  const ends: (() => Promise<unknown>)[] = [];
  const owning = <T>(thing: T, end: (thing: T) => Promise<unknown>): T => {
    ends.unshift(() => end(thing));
    return thing;
  };
  const disk = owning(mountSmallDisk(), async (folder) => unmount(folder));
  try {
    const postgres = await startPrivatePostgres({
      ...(disk === undefined ? {} : { folder: disk }),
      settings: ['max_wal_size=64MB', 'min_wal_size=32MB'],
    });
    if (!postgres) return undefined;
    owning(postgres, (server) => server.stop());
    const proxy = owning(await startTcpProxy(Number(new URL(postgres.url).port)), (each) =>
      each.close(),
    );
    const databaseUrl = postgres.url.replace(/:\d+\//, `:${proxy.port}/`);
    const cluster = owning(await startCluster({ databaseUrl, processes: 2 }), (each) =>
      each.stop(),
    );
    const receiver = owning(await startReceiver(), (each) => each.close());
    const client = createClient({ url: cluster.urls[0] ?? '', keys: cluster.keys });
    await client.call('POST', '/v1/webhooks', client.secret, {
      url: receiver.url,
      events: ['decision.rewarded'],
    });
    const players = owning(
      startPlayers({ urls: cluster.urls, key: client.publishable, count }),
      (each) => each.stop(),
    );
    await players.progress(recovered);
    onFault?.(`Before: ${describe(players)}`);
    const skipped: string[] = [];
    for (const fault of faults) {
      const before = players.refused();
      const reason = await fault.run({ cluster, postgres, proxy, smallDisk: disk !== undefined });
      if (reason !== undefined) skipped.push(`${fault.name}: ${reason}`);
      if (!hasty) await players.progress(recovered);
      const said = reason ?? `${players.refused() - before} refused`;
      onFault?.(`${fault.name}: ${said}; ${describe(players)}`);
    }
    if (hasty) await players.progress(recovered);
    await players.stop();
    await untilDelivered(postgres.url);
    const verdict = await verify(postgres.url, players.acknowledged, receiver.received);
    const { decisions, events, rewards } = players.acknowledged;
    return {
      ...verdict,
      decisions: decisions.size,
      events: events.size,
      rewards: rewards.size,
      refused: players.refused(),
      wrong: players.wrong,
      skipped,
    };
  } finally {
    for (const end of ends) await end();
  }
}

const describe = ({ acknowledged }: Players): string =>
  `${acknowledged.decisions.size} decisions, ${acknowledged.events.size} events and ${acknowledged.rewards.size} rewards acknowledged so far`;

/** A small file system that can be filled up; undefined where mounting is not allowed. */
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
