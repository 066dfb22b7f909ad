import type { Logger } from 'pino';
import type { Clock } from '../platform/clock.ts';
import type { Database, Scope } from './database.ts';
import type { Attempt, Lane, LaneOptions, OpenLane } from './group-commit.ts';
import { isLockTimeout } from './is-unavailable.ts';
import { createGate, createLanes, type Gate } from './lanes.ts';

/** What all lanes of one kind of write share. */
export interface LaneParts {
  /** `decisions` or `events`. */
  name: string;
  openLane: OpenLane;
  gate: Gate;
  log: Pick<Logger, 'warn'>;
}

interface Shared {
  database: Pick<Database, 'connections'>;
  tracing: { lane(name: string): OpenLane };
  clock: Pick<Clock, 'monotonicMs'>;
  log: Pick<Logger, 'warn'>;
  /** The size of this process's connection pool. */
  poolSize: number;
}

/** Connections that lanes leave for reads, deliveries and maintenance jobs. */
const connectionsForOthers = 2;

/** Creates the gate that all lanes share; the returned function creates the parts for one kind of write. */
export function createLaneParts({ database, tracing, clock, log, poolSize }: Shared) {
  const gate = createGate({
    // The embedded database runs one transaction at a time anyway.
    slots: database.connections ? Math.max(1, poolSize - connectionsForOthers) : Infinity,
    nowMs: clock.monotonicMs,
  });
  return (name: string): LaneParts => ({ name, openLane: tracing.lane(name), gate, log });
}

/**
 * A lane per account and environment: each `commit` gets items of only one. A session that holds a row lock
 * too long is named in the log, and delays only the account of that row.
 */
export function createScopedLanes<T extends { scope: Scope }, R>(
  { name, openLane, gate, log }: LaneParts,
  options: LaneOptions<T, R>,
): Lane<T, R> {
  const commit = async (items: T[], attempt: Attempt): Promise<R[]> => {
    try {
      return await options.commit(items, attempt);
    } catch (error) {
      // Logged once: the retries wait for the same session.
      if (isLockTimeout(error) && !attempt.isRetry) {
        const { accountId, environment } = items[0]?.scope ?? {};
        const { blockers } = error as { blockers?: string };
        log.warn(
          { lane: name, accountId, environment, writes: items.length, blockers },
          'writes timed out on a lock that another session holds',
        );
      }
      throw error;
    }
  };
  return createLanes({
    ownerOf: ({ scope }: T) => `${scope.accountId} ${scope.environment}`,
    openLane: (owner) =>
      openLane<T, R>({
        ...options,
        commit: (items, attempt) => gate.run(`${name} ${owner}`, () => commit(items, attempt)),
      }),
  });
}
