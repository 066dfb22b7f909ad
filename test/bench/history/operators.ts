import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { Job } from '../../../protocol/wire.ts';
import type { Site } from './site.ts';
import { listPolls, listReports } from './pages.ts';

const dayMs = 86_400_000;
const main = fileURLToPath(new URL('../../../service/dist/main.js', import.meta.url));

/** What operators have done while ads were measured. */
export interface Work {
  /** How long it took from a request until all processes had applied or lifted the kill switch, in milliseconds. */
  switchMs: number[];
  /** How long the panel's pages took. */
  pageMs: number[];
  archives: number;
  exports: number;
  exportedLines: number;
  recoveredEvents: number;
}

/**
 * Does everything at once until the signal is aborted: a panel is open on the overview, a webhook's deliveries and the
 * inspector; one archive, one export of a player, one export of a report and one recovery follow the other; and a kill
 * switch is turned on and off every second.
 */
export async function keepBusy(site: Site, stopping: AbortSignal): Promise<Work> {
  const work: Work = {
    switchMs: [],
    pageMs: [],
    archives: 0,
    exports: 0,
    exportedLines: 0,
    recoveredEvents: 0,
  };
  const repeat = async (task: () => Promise<void>): Promise<void> => {
    while (!stopping.aborted) await task();
  };
  const wait = (ms: number): Promise<void> =>
    sleep(ms, undefined, { signal: stopping }).catch(() => undefined);
  const polls = listPolls(site.webhookId, Date.now()).map(([path, everyMs]) =>
    repeat(async () => {
      const startedAtMs = performance.now();
      await site.read(path);
      work.pageMs.push(performance.now() - startedAtMs);
      await wait(everyMs);
    }),
  );
  await Promise.all([
    ...polls,
    repeat(() => toggleSwitch(site, work, wait)),
    repeat(() => recover(site, work, wait, stopping)),
    repeat(async () => {
      work.exportedLines += await site.countLines('/v1/users/exported/export', stopping);
      work.exports += 1;
    }),
    repeat(async () => {
      await site.read(listReports(Date.now()).csv);
      await wait(1_000);
    }),
    ...(site.store.postgres ? [repeat(() => archive(site, work, stopping))] : []),
  ]);
  return work;
}

/** Stops a placement and lifts the stop, and measures when all processes have noticed. */
async function toggleSwitch(
  site: Site,
  work: Work,
  wait: (ms: number) => Promise<void>,
): Promise<void> {
  const startedAtMs = performance.now();
  const stop = { scope: 'placement', target_id: 'lobby', state: 'on', reason: 'bench:history' };
  const { id } = await site.call<{ id: string }>('POST', '/v1/kill-switches', stop);
  await expectEverywhere(site, true);
  work.switchMs.push(performance.now() - startedAtMs);
  const liftedAtMs = performance.now();
  await site.call('DELETE', `/v1/kill-switches/${id}`);
  await expectEverywhere(site, false);
  work.switchMs.push(performance.now() - liftedAtMs);
  await wait(Math.max(0, 1_000 - (performance.now() - startedAtMs)));
}

/** Resolves when all processes have stopped the placement, or none stops it. */
async function expectEverywhere(site: Site, isStopped: boolean): Promise<void> {
  const wait = async (index: number): Promise<void> => {
    while (((await site.decide('lobby', index)).reason === 'killed') !== isStopped) await sleep(5);
  };
  await Promise.all(site.services.map((_service, index) => wait(index)));
}

/** Looks for missed events in all of the history. There are none, so that nothing is sent. */
async function recover(
  site: Site,
  work: Work,
  wait: (ms: number) => Promise<void>,
  stopping: AbortSignal,
): Promise<void> {
  const since = new Date(Date.now() - 28 * dayMs).toISOString();
  const path = `/v1/webhooks/${site.webhookId}/recover?since=${since}&state=missed`;
  let job = await site.call<Job>('POST', path);
  while (job.state === 'running' && !stopping.aborted) {
    await wait(1_000);
    job = await site.call<Job>('GET', `/v1/jobs/${job.id}`);
  }
  if (job.state === 'running') job = await site.call<Job>('POST', `/v1/jobs/${job.id}/cancel`);
  work.recoveredEvents += job.counts['read'] ?? 0;
}

/** Archives all past weeks with the service's command. */
async function archive({ store }: Site, work: Work, stopping: AbortSignal): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'trueward-archive-'));
  const before = new Date().toISOString().slice(0, 10);
  const child = spawn(process.execPath, [main, 'archive', '--before', before, '--to', folder], {
    env: { ...process.env, ...store.env },
    stdio: 'ignore',
  });
  const kill = (): boolean => child.kill('SIGKILL');
  stopping.addEventListener('abort', kill);
  const [code] = (await once(child, 'exit')) as [number | null];
  stopping.removeEventListener('abort', kill);
  rmSync(folder, { recursive: true, force: true });
  if (code === 0) work.archives += 1;
  else if (!stopping.aborted) throw new Error(`The archive command exited with ${code}.`);
}
