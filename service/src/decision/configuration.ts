import type { Logger } from 'pino';
import type { Environment, KeyKind, KeyPrincipal } from '../access/principal.ts';
import type { Clock } from '../platform/time.ts';
import { toDocument } from '../resource/resource-store.ts';
import type { ResourceKind } from '../resource/resource.ts';
import type { Database, Scope } from '../store/database.ts';
import { readCitusRole } from '../store/citus.ts';
import { DatabaseUnreachableError, isUnreachable } from '../store/database-errors.ts';
import { countDailyBudgets, type DailyBudget } from './caps.ts';
import { type AnyResource, compileSnapshot, isKilled, type Snapshot } from './snapshot.ts';

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
  /** An account's configuration version, which every change increments; undefined for an unknown account. */
  version(accountId: string): number | undefined;
  /** Returns budgets for house ads with a daily cap, by house ad id. They can be up to a second out of date. */
  dailyBudgets(scope: Scope): ReadonlyMap<string, DailyBudget>;
  /**
   * Reads changes from the database. Resolves when this process has applied them.
   *
   * @param accountId an account to read even if its version has not changed
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
  /** Accounts to read even if their version has not changed. */
  const requestedAccounts = new Set<string>();
  /** Accounts that could not be read the last time. */
  const unreadAccounts = new Set<string>();
  let isReadFailed = false;
  const isCluster = (await readCitusRole(database)) !== undefined;
  let runningRefresh: Promise<void> | undefined;
  let shouldRerun = false;
  let isFirstRead = true;
  let isStopped = false;
  let syncedAtMs = clock.monotonicMs();
  let timer: NodeJS.Timeout | undefined;

  /**
   * Isolates a failure that affects a single account, such as an unreachable shard. That account keeps its last
   * configuration, and the others are refreshed. The first read has to succeed for every account. Otherwise, requests
   * would be rejected because their keys are unknown, and clients do not retry such requests.
   */
  const isolateFailure = async (accountId: string, read: () => Promise<void>): Promise<void> => {
    try {
      await read();
      unreadAccounts.delete(accountId);
    } catch (error) {
      unreadAccounts.add(accountId);
      const isOutage = error instanceof DatabaseUnreachableError || isUnreachable(error);
      if (isFirstRead || isOutage) throw error;
      log.warn({ err: error, accountId }, "could not read an account's configuration");
    }
  };
  const readChanges = async (): Promise<void> => {
    const startedAtMs = clock.monotonicMs();
    const versions = await database.query<{ account_id: string; version: number }>(
      'SELECT account_id, version FROM config_versions',
    );
    const dueAccounts = new Set(requestedAccounts);
    requestedAccounts.clear();
    for (const { account_id: accountId, version } of versions) {
      const previous = accounts.get(accountId);
      const isChanged = previous?.version !== version;
      const rereads = isChanged
        ? (isCluster ? rereadDelaysMs : []).map((ms) => startedAtMs + ms)
        : previous.rereadsAtMs;
      const rereadsAtMs = rereads.filter((atMs) => atMs > startedAtMs);
      if (!isChanged && !dueAccounts.has(accountId) && rereadsAtMs.length === rereads.length)
        continue;
      await isolateFailure(accountId, async () => {
        // The version was read before the data. A change that is committed in between is read twice, but never missed.
        const snapshots = await loadSnapshots(database, accountId);
        // `countDailyBudgets` below adds budgets for new ads.
        const dailyBudgets = previous?.dailyBudgets ?? {
          sandbox: new Map(),
          live: new Map(),
        };
        accounts.set(accountId, { version, rereadsAtMs, snapshots, dailyBudgets });
        for (const [hash, key] of await loadKeys(database, accountId)) keys.set(hash, key);
      });
    }
    for (const [accountId, { snapshots, dailyBudgets }] of accounts) {
      for (const environment of ['sandbox', 'live'] as const) {
        const [scope, budgets] = [{ accountId, environment }, dailyBudgets[environment]];
        await isolateFailure(accountId, () =>
          countDailyBudgets(database, scope, snapshots[environment], clock.nowMs(), budgets),
        );
      }
    }
    syncedAtMs = startedAtMs;
  };

  /** If called during a refresh, starts another one afterward, because the current one may have missed the change. */
  const refresh = (accountId?: string): Promise<void> => {
    if (accountId !== undefined) requestedAccounts.add(accountId);
    if (runningRefresh) {
      shouldRerun = true;
      return runningRefresh;
    }
    runningRefresh = (async () => {
      do {
        shouldRerun = false;
        isReadFailed = await readChanges().then(
          () => false,
          (error: unknown) => {
            isReadFailed = true;
            throw error;
          },
        );
      } while (shouldRerun);
    })().finally(() => {
      runningRefresh = undefined;
    });
    return runningRefresh;
  };

  const poll = (): void => {
    timer = setTimeout(() => {
      refresh()
        .catch((error: unknown) => log.error({ err: error }, 'could not read the configuration'))
        .finally(() => isStopped || poll());
    }, pollMs);
  };

  await refresh();
  isFirstRead = false;
  poll();
  return {
    findKey: (hash) => keys.get(hash),
    isComplete: () => !isReadFailed && unreadAccounts.size === 0,
    snapshot: ({ accountId, environment }) =>
      accounts.get(accountId)?.snapshots[environment] ?? emptySnapshot,
    version: (accountId) => accounts.get(accountId)?.version,
    dailyBudgets: ({ accountId, environment }) =>
      accounts.get(accountId)?.dailyBudgets[environment] ?? new Map(),
    refresh,
    expiredKillSwitches: (nowMs) =>
      [...accounts].flatMap(([accountId, { snapshots }]) =>
        (['sandbox', 'live'] as const).flatMap((environment) =>
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
      isStopped = true;
      clearTimeout(timer);
      await runningRefresh?.catch(() => undefined); // logged by the poll
    },
  };
}

async function loadSnapshots(
  database: Database,
  accountId: string,
): Promise<AccountView['snapshots']> {
  const rows = await database.query<{
    environment: Environment;
    kind: ResourceKind;
    id: string;
    document: object;
    created_at: Date;
    updated_at: Date;
  }>(
    `SELECT environment, kind, id, document, created_at, updated_at FROM resources
      WHERE account_id = $1 AND archived_at IS NULL ORDER BY id`,
    [accountId],
  );
  const compileEnvironment = (environment: Environment) =>
    compileSnapshot(
      rows
        .filter((row) => row.environment === environment)
        .map((row) => ({ kind: row.kind, document: toDocument(row) }) as AnyResource),
    );
  return { sandbox: compileEnvironment('sandbox'), live: compileEnvironment('live') };
}

async function loadKeys(
  database: Database,
  accountId: string,
): Promise<[hash: string, key: KeyPrincipal][]> {
  const rows = await database.query<{
    id: string;
    environment: Environment;
    kind: KeyKind;
    hash: string;
    allowed_origins: string[];
    rate_limit: { per_s: number; burst: number } | null;
    revoked_at: Date | null;
  }>(
    'SELECT id, environment, kind, hash, allowed_origins, rate_limit, revoked_at FROM keys WHERE account_id = $1',
    [accountId],
  );
  return rows.map((row) => [
    row.hash,
    {
      accountId,
      environment: row.environment,
      kind: row.kind,
      keyId: row.id,
      allowedOrigins: row.allowed_origins,
      ...(row.rate_limit === null
        ? {}
        : { rateLimit: { perS: row.rate_limit.per_s, burst: row.rate_limit.burst } }),
      ...(row.revoked_at === null ? {} : { revokedAtMs: row.revoked_at.getTime() }),
    },
  ]);
}

/** Returns a function that tells whether a kill switch currently stops an external ad. */
export const createIsKilled =
  ({ snapshot }: Pick<Configuration, 'snapshot'>, clock: Clock) =>
  (
    scope: Scope,
    ad: { placement: string | null; sourceId: string | null; advertiserId: string | null },
  ): boolean => {
    const { placements } = snapshot(scope);
    const placementId = placements.get(ad.placement ?? '')?.placement.id;
    const target = {
      ...(ad.placement !== null && { placement: ad.placement }),
      ...(placementId !== undefined && { placementId }),
      sourceId: ad.sourceId ?? undefined,
      advertiserId: ad.advertiserId ?? undefined,
    };
    return isKilled(snapshot(scope), target, clock.nowMs());
  };
