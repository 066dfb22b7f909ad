import { setTimeout as pause } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { Environment, KeyPrincipal } from '../access/principal.ts';
import type { Clock } from '../platform/time.ts';
import type { Database, Scope } from '../store/database.ts';
import type { CallbackSource } from '../resource/resource.ts';
import { readCitusRole } from '../store/citus.ts';
import { DatabaseUnreachableError, isUnreachable } from '../store/database-errors.ts';
import { countDailyBudgets, type DailyBudget } from './caps.ts';
import { loadKeys, loadSnapshots } from './load-configuration.ts';
import { createReadBudget } from './read-budget.ts';
import { compileSnapshot, type Snapshot } from './snapshot.ts';

/**
 * Keeps all accounts' keys and snapshots in memory, so that decisions don't have to query the database for them.
 */
export interface Configuration {
  findKey(hash: string): KeyPrincipal | undefined;
  /**
   * Whether the last read succeeded for every account. Otherwise, a key that {@link findKey} doesn't find may exist: the
   * request must be retried, and not be rejected.
   */
  isComplete(): boolean;
  snapshot(scope: Scope): Snapshot;
  /** Finds a source of any account whose network confirms views. */
  findCallbackSource(id: string): { scope: Scope; source: CallbackSource } | undefined;
  /** An account's configuration version, which every change increments; undefined for an unknown account. */
  version(accountId: string): number | undefined;
  /** Returns budgets for house ads with a daily cap, by house ad id. They can be up to a second out of date. */
  dailyBudgets(scope: Scope): ReadonlyMap<string, DailyBudget>;
  /**
   * Reads changes from the database. Resolves when this process has applied them.
   *
   * @param accountId reads only this account. If it changes all the time, it waits up to two seconds for its turn
   */
  refresh(accountId?: string): Promise<void>;
  /** Lists the kill switches that are stored as on, but have expired. */
  expiredKillSwitches(nowMs: number): { scope: Scope; id: string }[];
  /** Number of webhooks that the service has disabled, across all accounts. */
  disabledWebhooks(): number;
  /** Seconds since the configuration was last in sync with the database. */
  ageS(): number;
  stop(): Promise<void>;
}

interface Deps {
  database: Database;
  clock: Clock;
  log: Logger;
  /** How often to poll for changes by other processes. */
  pollMs?: number;
}

interface AccountView {
  version: number;
  /**
   * Monotonic times at which the account is read again even if its version is unchanged. See {@link rereadDelaysMs}.
   */
  rereadsAtMs: readonly number[];
  snapshots: Record<Environment, Snapshot>;
  dailyBudgets: Record<Environment, Map<string, DailyBudget>>;
}

/**
 * When to read an account again after its version has changed. In a Citus cluster, the versions are stored on the
 * coordinator, and a commit becomes visible there slightly earlier than on the shard. The first reread is usually
 * enough. If a node fails during the commit, the cluster completes the commit within a minute
 * (`citus.recover_2pc_interval`).
 */
const rereadDelaysMs = [500, 2_000, 10_000, 90_000];

const environments = ['sandbox', 'live'] as const;
const emptySnapshot = compileSnapshot([]);

/** Loads the configuration and keeps refreshing it, so that it is at most about a second out of date. */
export async function openConfiguration({
  database,
  clock,
  log,
  pollMs = 500,
}: Deps): Promise<Configuration> {
  const accounts = new Map<string, AccountView>();
  /** All accounts' keys, by hash. Keys are revoked, but never removed. */
  const keys = new Map<string, KeyPrincipal>();
  /** Where each source is whose network confirms views, by id. A source can be archived, but an id never moves. */
  const callbackScopes = new Map<string, Scope>();
  /** Accounts that could not be read the last time. */
  const unreadAccounts = new Set<string>();
  /** Accounts whose daily budgets could not be counted the last time. */
  const uncountedAccounts = new Set<string>();
  const budget = createReadBudget(clock);
  let isReadFailed = false;
  const isCluster = (await readCitusRole(database)) !== undefined;
  let isFirstRead = true;
  const stopping = new AbortController();
  let syncedAtMs = clock.monotonicMs();
  let timer: NodeJS.Timeout | undefined;

  /**
   * Isolates a failure that affects a single account, such as an unreachable shard. That account keeps its last
   * configuration, and the others are refreshed. The first read has to succeed for every account. Otherwise, requests
   * would be rejected because their keys are unknown, and clients do not retry such requests.
   */
  const isolateFailure = async (
    accountId: string,
    read: () => Promise<void>,
    failed = unreadAccounts,
  ): Promise<void> => {
    try {
      await read();
      failed.delete(accountId);
    } catch (error) {
      failed.add(accountId);
      const isOutage = error instanceof DatabaseUnreachableError || isUnreachable(error);
      if (isFirstRead || isOutage) throw error;
      log.warn({ err: error, accountId }, "could not read an account's configuration");
    }
  };

  const countBudgets = async (accountId: string): Promise<void> => {
    const view = accounts.get(accountId);
    if (!view) return;
    for (const environment of environments) {
      const [scope, budgets] = [{ accountId, environment }, view.dailyBudgets[environment]];
      const snapshot = view.snapshots[environment];
      await countDailyBudgets(database, scope, snapshot, clock.nowMs(), budgets);
    }
  };

  /** Reads an account. A change that is committed after its version was read is read twice, but never missed. */
  const readAccount = async (accountId: string, version: number): Promise<void> => {
    const startedAtMs = clock.monotonicMs();
    const previous = accounts.get(accountId);
    const snapshots = await loadSnapshots(database, accountId);
    for (const [hash, key] of await loadKeys(database, accountId)) keys.set(hash, key);
    for (const environment of environments)
      for (const id of snapshots[environment].callbackSources.keys())
        callbackScopes.set(id, { accountId, environment });
    // `countBudgets` adds budgets for new ads.
    const dailyBudgets = previous?.dailyBudgets ?? { sandbox: new Map(), live: new Map() };
    const rereadsAtMs =
      previous?.version === version
        ? previous.rereadsAtMs.filter((atMs) => atMs > startedAtMs)
        : (isCluster ? rereadDelaysMs : []).map((ms) => startedAtMs + ms);
    accounts.set(accountId, { version, rereadsAtMs, snapshots, dailyBudgets });
    if (!isFirstRead) budget.charge(accountId, clock.monotonicMs() - startedAtMs);
  };

  const isDue = (accountId: string, version: number, nowMs: number): boolean => {
    const view = accounts.get(accountId);
    if (!view) return true;
    const isChanged = view.version !== version || view.rereadsAtMs.some((atMs) => atMs <= nowMs);
    // An account that has used up its time is read by one of the next polls.
    return isChanged && budget.waitMs(accountId) === 0;
  };

  const readChanges = async (): Promise<void> => {
    const startedAtMs = clock.monotonicMs();
    for (const { account_id: accountId, version } of await readVersions(database))
      if (isDue(accountId, version, startedAtMs))
        await isolateFailure(accountId, () => readAccount(accountId, version));
    for (const accountId of accounts.keys())
      await isolateFailure(accountId, () => countBudgets(accountId), uncountedAccounts);
    syncedAtMs = startedAtMs;
  };

  /** Reads an account even if its version has not changed, because of the delay in a cluster. */
  const readOne = async (accountId: string): Promise<void> => {
    for (const { version } of await readVersions(database, accountId)) {
      await isolateFailure(accountId, () => readAccount(accountId, version));
      await isolateFailure(accountId, () => countBudgets(accountId), uncountedAccounts);
    }
  };

  let lastRead: Promise<unknown> = Promise.resolve();
  /** Reads that have not begun, by account; '' stands for all accounts. They will see what is committed by now. */
  const waitingReads = new Map<string, Promise<void>>();
  const refresh = (accountId = ''): Promise<void> => {
    const waiting = waitingReads.get(accountId);
    if (waiting) return waiting;
    const read = async (): Promise<void> => {
      waitingReads.delete(accountId);
      if (accountId !== '') return readOne(accountId);
      isReadFailed = await readChanges().then(
        () => false,
        (error: unknown) => {
          isReadFailed = true;
          throw error;
        },
      );
    };
    const takeTurn = async (): Promise<void> => {
      const waitMs = budget.waitMs(accountId);
      if (waitMs > 0)
        await pause(waitMs, undefined, { signal: stopping.signal }).catch(() => undefined);
      // One read at a time, because an older one must not replace what a newer one has found.
      const turn = lastRead.then(read);
      lastRead = turn.catch(() => undefined);
      return turn;
    };
    const result = takeTurn();
    waitingReads.set(accountId, result);
    return result;
  };

  const poll = (): void => {
    timer = setTimeout(() => {
      refresh()
        .catch((error: unknown) => log.error({ err: error }, 'could not read the configuration'))
        .finally(() => stopping.signal.aborted || poll());
    }, pollMs);
  };

  const snapshotOf = ({ accountId, environment }: Scope): Snapshot =>
    accounts.get(accountId)?.snapshots[environment] ?? emptySnapshot;

  await refresh();
  isFirstRead = false;
  poll();
  return {
    findKey: (hash) => keys.get(hash),
    isComplete: () => !isReadFailed && unreadAccounts.size === 0,
    snapshot: snapshotOf,
    findCallbackSource(id) {
      const scope = callbackScopes.get(id);
      const source = scope && snapshotOf(scope).callbackSources.get(id);
      return source && { scope, source };
    },
    version: (accountId) => accounts.get(accountId)?.version,
    dailyBudgets: ({ accountId, environment }) =>
      accounts.get(accountId)?.dailyBudgets[environment] ?? new Map(),
    refresh,
    expiredKillSwitches: (nowMs) =>
      [...accounts].flatMap(([accountId, { snapshots }]) =>
        environments.flatMap((environment) =>
          snapshots[environment].killSwitches
            .filter(({ expiresAtMs }) => expiresAtMs <= nowMs)
            .map(({ id }) => ({ scope: { accountId, environment }, id })),
        ),
      ),
    disabledWebhooks: () =>
      [...accounts.values()]
        .flatMap(({ snapshots }) => Object.values(snapshots))
        .reduce((sum, snapshot) => sum + snapshot.disabledWebhooks, 0),
    ageS: () => (clock.monotonicMs() - syncedAtMs) / 1_000,
    async stop() {
      stopping.abort();
      clearTimeout(timer);
      await Promise.allSettled(waitingReads.values());
      await lastRead;
    },
  };
}

/** Returns the configuration versions of all accounts, or of one. */
const readVersions = (database: Database, accountId: string | null = null) =>
  database.query<{ account_id: string; version: number }>(
    'SELECT account_id, version FROM config_versions WHERE $1::text IS NULL OR account_id = $1',
    [accountId],
  );
