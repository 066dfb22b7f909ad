import { promisifyRequest, type UseStore } from 'idb-keyval';
import {
  createIndexedDbStore,
  type EventRecord,
  isEventRecord,
  type StoredRecord,
} from './outbox/event-store.ts';
import type { Outbox } from './outbox/outbox.ts';
import type { Clock } from './platform/clock.ts';
import { waitForCommit, createDatabase } from './platform/database.ts';
import { browserLocks, type Locks } from './platform/locks.ts';
import type { Connectivity, OpenTabChannel } from './platform/page.ts';
import { claimMs, isOpen, isEntry, type LedgerEntry } from './reward/reward-machine.ts';
import type { Rewards } from './reward/rewards.ts';
import { readReward } from './transport/read-reward.ts';
import type { ServiceClient } from './transport/service-client.ts';

export interface AdoptionDeps {
  /** Name prefix of this page’s databases. */
  name: string;
  client: ServiceClient;
  clock: Clock;
  /** Default: Web Locks. */
  locks?: Locks;
  connectivity: Connectivity;
  openTabChannel: OpenTabChannel;
  outbox: Pick<Outbox, 'flush'>;
  rewards: Pick<Rewards, 'refresh' | 'settle'>;
  /** Called after rewards have been added to this page’s ledger. */
  onChange(): void;
}

/** How long to wait before rechecking a database that belongs to a different account, in milliseconds. */
const recheckMs = 7 * 86_400_000;
/** Maximum number of records per transaction. Moving this many blocks the main thread for about a millisecond. */
const batchSize = 200;
/** Maximum number of tokens to check. One is not enough, because the record that contains it may be corrupt. */
const maxSamples = 3;

/**
 * Matches names such as `trueward:live_0123456789ab@ads.example.com`. Names from older releases don't include the
 * environment.
 */
const namePattern = /^trueward:(?:(\w+)_)?\w{12}@(.+)$/;

/**
 * Returns the name prefixes of this origin's other databases for the same service and environment. These databases
 * belong to this game's earlier keys, or to other games.
 */
export function findPredecessors(names: readonly string[], ownPrefix: string): string[] {
  const [, environment, host] = namePattern.exec(ownPrefix) ?? [];
  const prefixes = new Set<string>();
  for (const name of names) {
    const base = name.replace(/:(outbox|rewards)$/, '');
    const [, databaseEnvironment = environment, databaseHost] = namePattern.exec(base) ?? [];
    if (
      base !== name &&
      base !== ownPrefix &&
      databaseHost === host &&
      databaseEnvironment === environment
    )
      prefixes.add(base);
  }
  return Array.from(prefixes);
}

/** Maximum duration of an ad, in milliseconds. */
const maxAdMs = 3_600_000;

/** Whether the entry may be moved. No tab may be delivering its reward, and its ad must not be on the screen. */
const isMovable = (entry: LedgerEntry, now: number): boolean =>
  entry.state === 'none'
    ? !entry.moved && Math.abs(now - entry.trackedAt) > maxAdMs
    : isOpen(entry) && Math.abs(now - (entry.claimedAt ?? -Infinity)) >= claimMs;

/** Opens both databases whose names have the given prefix. */
function openStorage(name: string, clock: Clock) {
  const database = createDatabase({
    name: `${name}:rewards`,
    stores: { rewards: { autoIncrement: false } },
    clock,
  });
  const events = createIndexedDbStore({ name: `${name}:outbox`, clock });
  return {
    rewards: database.store('rewards', 'strict'),
    events,
    close() {
      database.close();
      events.close();
    },
  };
}
type Storage = ReturnType<typeof openStorage>;

const readEntries = async (rewards: UseStore): Promise<LedgerEntry[]> =>
  (await rewards('readonly', (store) => promisifyRequest<unknown[]>(store.getAll()))).filter(
    isEntry,
  );

/** Updates entries in one transaction. If `update` returns undefined, the entry stays unchanged. */
const updateEntries = (
  rewards: UseStore,
  entries: LedgerEntry[],
  update: (stored: LedgerEntry | undefined, entry: LedgerEntry) => LedgerEntry | undefined,
): Promise<LedgerEntry[]> =>
  rewards('readwrite', async (store) => {
    const changedEntries: LedgerEntry[] = [];
    for (const entry of entries) {
      const stored = await promisifyRequest<unknown>(store.get(entry.decisionId));
      const changedEntry = update(isEntry(stored) ? stored : undefined, entry);
      if (changedEntry === undefined) continue;
      store.put(changedEntry, changedEntry.decisionId);
      changedEntries.push(changedEntry);
    }
    await waitForCommit(store.transaction);
    return changedEntries;
  });

/**
 * Moves rewards in three transactions. The second transaction commits the move. Entries marked `arriving` or `gone` are
 * never delivered, so no reward is delivered from both ledgers. If a move is interrupted, the next run completes it.
 */
async function moveRewards(
  source: UseStore,
  target: UseStore,
  clock: Clock,
): Promise<LedgerEntry[]> {
  const now = clock.now();
  const entries = await readEntries(source);
  const arrivingEntries = await updateEntries(target, entries, (stored, entry) =>
    stored?.moved === 'gone' && entry.moved === 'arriving'
      ? { ...entry, moved: 'arriving' }
      : (!stored || stored.moved) && isMovable(entry, now)
        ? { ...entry, moved: 'arriving' }
        : undefined,
  );
  await updateEntries(source, arrivingEntries, (stored) =>
    stored && (stored.moved === 'arriving' || isMovable(stored, now))
      ? { ...stored, moved: 'gone' }
      : undefined,
  );
  const goneEntries = (await readEntries(source)).filter(({ moved }) => moved === 'gone');
  return updateEntries(target, goneEntries, (stored, entry) => {
    const { moved: _, ...arrivedEntry } = entry;
    return stored?.moved === 'arriving' ? arrivedEntry : undefined;
  });
}

/** Builds the message that tells other tabs how much the queue has grown. */
const createGrowthMessage = (records: StoredRecord[]) => {
  const events = records.flatMap(({ value }) => (isEventRecord(value) ? value.events : []));
  const bytes = events.reduce((sum, json) => sum + json.length, 0);
  return { events: events.length, bytes };
};

/**
 * Moves events. If the page is killed midway, some events are in both queues. The service then receives them twice, but
 * counts them once.
 */
async function moveEvents(source: Storage, target: Storage, deps: AdoptionDeps): Promise<void> {
  const tabs = deps.openTabChannel<ReturnType<typeof createGrowthMessage>>(`${deps.name}:outbox`);
  for (;;) {
    const records = await source.events.read(-1, batchSize);
    const [firstRecord] = records;
    const lastRecord = records.at(-1);
    if (!firstRecord || !lastRecord) break;
    // Records that this release cannot read are moved too; the outbox sets them aside.
    await target.events.append(records.map(({ value }) => value as EventRecord));
    await source.events.remove(firstRecord.key, lastRecord.key);
    tabs.send(createGrowthMessage(records));
  }
  tabs.close();
  // Sends the events from this tab. In browsers without a tab channel, the other tabs don't know about them.
  void deps.outbox.flush();
}

interface Sample {
  decisionId: string;
  token: string;
}

/** Reads tokens from the records to be moved. Returns an empty list if there is nothing to move. */
async function readSamples(source: Storage, target: Storage, now: number): Promise<Sample[]> {
  // If the page was killed during a move, an entry may already be marked `gone` in the old ledger but still `arriving`
  // in this one.
  const interrupted = (await readEntries(target.rewards)).some(({ moved }) => moved === 'arriving');
  const rewards = (await readEntries(source.rewards)).filter((entry) =>
    entry.moved ? interrupted || entry.moved === 'arriving' : isMovable(entry, now),
  );
  const events = (await source.events.read(-1, maxSamples)).flatMap(({ value }) => {
    if (!isEventRecord(value)) return [];
    try {
      const event = JSON.parse(value.events[0] ?? '') as { decision_id: string; token: string };
      return [{ decisionId: event.decision_id, token: event.token }];
    } catch {
      return [];
    }
  });
  return events.concat(rewards.reverse()).slice(0, maxSamples);
}

/**
 * Whether the tokens belong to the same account as this page's key. The service rejects other accounts' tokens. Returns
 * undefined if the response is inconclusive.
 */
async function isSameAccount(
  client: AdoptionDeps['client'],
  tokens: Sample[],
): Promise<boolean | undefined> {
  for (const { decisionId, token } of tokens) {
    const response = await readReward(client, decisionId, token);
    if (response.kind === 'ok') return true;
    if (response.kind !== 'refused') return undefined;
    const { code } = response.problem;
    // The token was valid, but the service no longer stores the decision.
    if (code === 'not_found' || code === 'decision_gone') return true;
    if (code !== 'token_invalid' && code !== 'environment_mismatch') return undefined;
  }
  return false;
}

/** Runs `work` while holding the queue's lock. Tabs also hold this lock while they send events. */
const withLock = (
  { locks = browserLocks() }: AdoptionDeps,
  name: string,
  signal: AbortSignal,
  work: () => Promise<void>,
): Promise<void> =>
  new Promise((resolve, reject) => {
    const release = locks.acquire(name, () => {
      work()
        .then(resolve, reject)
        .finally(() => release());
    });
    signal.addEventListener('abort', () => {
      release();
      resolve();
    });
  });

/**
 * Adopts the databases whose names have the given prefix. Resolves to false if it is still unknown whether those
 * databases belong to the same account.
 */
async function adopt(deps: AdoptionDeps, name: string, signal: AbortSignal): Promise<boolean> {
  const { client, clock } = deps;
  const source = openStorage(name, clock);
  const target = openStorage(deps.name, clock);
  const lastCheckKey = `foreign:${name}`;
  try {
    const tokens = await readSamples(source, target, clock.now());
    if (tokens.length === 0) return true;
    // Doesn't use idb-keyval's `get()` and `set()`, because bundlers would hoist them into the core chunk and add 44
    // bytes to it.
    const lastCheck = await target.rewards('readonly', (store) =>
      promisifyRequest<{ at?: number } | undefined>(store.get(lastCheckKey)),
    );
    if (Math.abs(clock.now() - (lastCheck?.at ?? -Infinity)) < recheckMs) return true;
    const isOwnAccount = await isSameAccount(client, tokens);
    if (isOwnAccount === undefined) return false;
    if (!isOwnAccount) {
      await target.rewards('readwrite', (store) => {
        store.put({ at: clock.now() }, lastCheckKey);
        return waitForCommit(store.transaction);
      });
      return true;
    }
    await withLock(deps, `${name}:outbox`, signal, async () => {
      const adoptedEntries = await moveRewards(source.rewards, target.rewards, clock);
      await deps.rewards.refresh();
      deps.onChange();
      await moveEvents(source, target, deps);
      // The events for these ads may have been sent already, so ask the service whether the ads were watched.
      for (const { decisionId, token } of adoptedEntries.filter(({ state }) => state === 'none')) {
        const response = await readReward(client, decisionId, token);
        if (response.kind === 'ok') await deps.rewards.settle([response.body]);
      }
    });
    return true;
  } finally {
    source.close();
    target.close();
  }
}

/**
 * Adopts events and rewards that this game stored under an earlier publishable key. First, the service must confirm
 * that they belong to the same account. Other accounts' data is left untouched. Returns a function that stops the
 * adoption.
 */
export function adoptStorage(deps: AdoptionDeps): () => void {
  const stopController = new AbortController();
  void adoptAll(deps, stopController.signal).catch(() => undefined);
  return () => stopController.abort();
}

/** Like {@link adoptStorage}, but resolves when everything that can be adopted now has been adopted. */
export async function adoptAll(deps: AdoptionDeps, signal: AbortSignal): Promise<void> {
  const names = (await indexedDB.databases()).map(({ name = '' }) => name);
  const results = await Promise.all(
    findPredecessors(names, deps.name).map((name) =>
      // A database that fails is retried on the next page load.
      adopt(deps, name, signal).catch(() => true),
    ),
  );
  if (results.every(Boolean) || signal.aborted) return;
  const unsubscribe = deps.connectivity.onOnline(() => {
    unsubscribe();
    void adoptAll(deps, signal).catch(() => undefined);
  });
  signal.addEventListener('abort', unsubscribe);
}
