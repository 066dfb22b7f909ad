import type { Logger } from 'pino';
import type { Clock } from '../platform/time.ts';
import { lockConfiguration } from '../store/config-version.ts';
import type { Database, Scope } from '../store/database.ts';
import { endsApplyingAtMs } from './effective-state.ts';
import type { ResourceManager } from './resource-manager.ts';
import type { ResourceStore } from './resource-store.ts';

interface Deps {
  database: Database;
  resources: ResourceStore;
  resourceManager: ResourceManager;
  /** Lists the kill switches that are stored as on, but have expired. Reads memory only. */
  listExpired(nowMs: number): { scope: Scope; id: string }[];
  clock: Clock;
  log: Logger;
  /** Called after kill switches of an account were turned off. */
  onChange(accountId: string): Promise<void>;
}

const intervalMs = 1_000;

/**
 * Turns expired kill switches off in the database, with their `kill_switch.changed` event and audit record. An expired
 * kill switch has no effect even before that. Every process tries; the lock on the account's configuration lets only
 * one of them do it.
 */
export function startKillSwitchExpiry(deps: Deps): { stop(): Promise<void> } {
  const { clock, log } = deps;
  let isFailing = false;
  const run = async (): Promise<void> => {
    try {
      for (const expired of deps.listExpired(clock.nowMs())) await turnOff(deps, expired);
      isFailing = false;
    } catch (error) {
      if (!isFailing) log.warn({ err: error }, 'could not turn an expired kill switch off');
      isFailing = true;
    }
  };
  let running = Promise.resolve();
  let timer: NodeJS.Timeout;
  let isStopped = false;
  const schedule = (): void => {
    timer = setTimeout(() => {
      running = run().then(() => {
        if (!isStopped) schedule();
      });
    }, intervalMs).unref();
  };
  schedule();
  return {
    async stop() {
      isStopped = true;
      clearTimeout(timer);
      await running;
    },
  };
}

async function turnOff(
  { database, resources, resourceManager, clock, onChange }: Deps,
  { scope, id }: { scope: Scope; id: string },
): Promise<void> {
  const kind = 'killSwitch';
  const { accountId, environment } = scope;
  await database.transaction(async (queries) => {
    await lockConfiguration(queries, accountId);
    const found = await resources.find(queries, scope, kind, id);
    const isDue =
      found?.document.state === 'on' && endsApplyingAtMs(found.document) <= clock.nowMs();
    if (!isDue) return;
    const operation = { queries, scope: { accountId, environment }, actor: 'service' };
    const target = { kind, id, ifMatch: undefined, action: 'expired' } as const;
    await resourceManager.change(operation, target, (before) => ({
      ...before,
      state: 'off' as const,
      actor: 'service',
    }));
  });
  await onChange(accountId);
}
