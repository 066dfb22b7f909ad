import { promisifyRequest, type UseStore } from 'idb-keyval';
import { type EventRecord, isEventRecord, type StoredRecord } from './outbox/event-store.ts';
import { createIndexedDbStore } from './outbox/indexeddb-store.ts';
import type { Outbox } from './outbox/outbox.ts';
import type { Clock } from './platform/clock.ts';
import type { Connectivity } from './platform/connectivity.ts';
import { completed, createDatabase } from './platform/database.ts';
import { browserLocks, type Locks } from './platform/locks.ts';
import type { OpenTabSignal } from './platform/tab-signal.ts';
import { claimMs, isAwaited, isEntry, type LedgerEntry } from './reward/reward-machine.ts';
import type { Rewards } from './reward/rewards.ts';
import type { ServiceClient } from './transport/service-client.ts';

export interface AdoptionParts {
  /** What the names of this page’s databases begin with. */
  name: string;
  client: Pick<ServiceClient, 'readReward'>;
  clock: Clock;
  /** Default: Web Locks. */
  locks?: Locks;
  connectivity: Connectivity;
  openTabSignal: OpenTabSignal;
  outbox: Pick<Outbox, 'flush'>;
  rewards: Pick<Rewards, 'refresh' | 'settle'>;
  /** Rewards have come into the ledger of this page. */
  changed(): void;
}

/** For so long, in milliseconds, a database of another account is left alone. */
const foreignForMs = 7 * 86_400_000;
/** Records that are moved at once: they block the main thread for about a millisecond. */
const chunk = 200;
/** Whose token is asked about; more than one, because one record may be damaged. */
const samples = 3;

/** `trueward:live_0123456789ab@ads.example.com`; before, names had no environment. */
const format = /^trueward:(?:(\w+)_)?\w{12}@(.+)$/;

/**
 * The other names under which this service and environment has databases in this origin: of earlier keys of
 * this game, and of other games.
 */
export function predecessors(names: readonly string[], own: string): string[] {
  const [, environment, host] = format.exec(own) ?? [];
  const found = new Set<string>();
  for (const name of names) {
    const base = name.replace(/:(outbox|rewards)$/, '');
    const [, ofEnvironment = environment, ofHost] = format.exec(base) ?? [];
    if (base !== name && base !== own && ofHost === host && ofEnvironment === environment)
      found.add(base);
  }
  return Array.from(found);
}

/** No ad takes longer than this, in milliseconds. */
const longestAdMs = 3_600_000;

/** Whether another ledger may take it: no tab is handing it over, and its ad is not on the screen. */
const isMovable = (entry: LedgerEntry, now: number): boolean =>
  entry.state === 'none'
    ? !entry.moved && Math.abs(now - entry.trackedAt) > longestAdMs
    : isAwaited(entry) && Math.abs(now - (entry.claimedAt ?? -Infinity)) >= claimMs;

/** What lies under one name. */
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

const entriesIn = async (rewards: UseStore): Promise<LedgerEntry[]> =>
  (await rewards('readonly', (store) => promisifyRequest<unknown[]>(store.getAll()))).filter(
    isEntry,
  );

/** Changes entries in one transaction; where `next` answers undefined, nothing is changed. */
const changeEach = (
  rewards: UseStore,
  entries: LedgerEntry[],
  next: (known: LedgerEntry | undefined, entry: LedgerEntry) => LedgerEntry | undefined,
): Promise<LedgerEntry[]> =>
  rewards('readwrite', async (store) => {
    const changed: LedgerEntry[] = [];
    for (const entry of entries) {
      const known = await promisifyRequest<unknown>(store.get(entry.decisionId));
      const after = next(isEntry(known) ? known : undefined, entry);
      if (after === undefined) continue;
      store.put(after, after.decisionId);
      changed.push(after);
    }
    await completed(store.transaction);
    return changed;
  });

/**
 * Moves rewards in three transactions, of which the second decides: an entry that is `arriving` is handed to
 * nobody, and one that is `gone` neither. So no reward can be handed over from both ledgers, and wherever
 * this breaks off, the next time finishes it, from either side.
 */
async function moveRewards(from: UseStore, to: UseStore, clock: Clock): Promise<LedgerEntry[]> {
  const now = clock.now();
  const found = await entriesIn(from);
  const arriving = await changeEach(to, found, (known, entry) =>
    known?.moved === 'gone' && entry.moved === 'arriving'
      ? { ...entry, moved: 'arriving' }
      : (!known || known.moved) && isMovable(entry, now)
        ? { ...entry, moved: 'arriving' }
        : undefined,
  );
  await changeEach(from, arriving, (known) =>
    known && (known.moved === 'arriving' || isMovable(known, now))
      ? { ...known, moved: 'gone' }
      : undefined,
  );
  const gone = (await entriesIn(from)).filter(({ moved }) => moved === 'gone');
  return changeEach(to, gone, (known, entry) => {
    const { moved: _, ...arrived } = entry;
    return known?.moved === 'arriving' ? arrived : undefined;
  });
}

/** How the queue grew, as its tabs tell each other. */
const newsOf = (records: StoredRecord[]) => {
  const events = records.flatMap(({ value }) => (isEventRecord(value) ? value.events : []));
  const bytes = events.reduce((sum, json) => sum + json.length, 0);
  return { events: events.length, bytes, rewards: [] };
};

/** Moves events; those that a kill leaves in both queues are sent twice, and count once. */
async function moveEvents(from: Storage, to: Storage, parts: AdoptionParts): Promise<void> {
  const tabs = parts.openTabSignal<ReturnType<typeof newsOf>>(`${parts.name}:outbox`);
  for (;;) {
    const records = await from.events.read(-1, chunk);
    const [first] = records;
    const last = records.at(-1);
    if (!first || !last) break;
    // What this release cannot read, the queue sets aside.
    await to.events.append(records.map(({ value }) => value as EventRecord));
    await from.events.remove(first.key, last.key);
    tabs.send(newsOf(records));
  }
  tabs.close();
  // Where tabs can't talk to each other, this one knows all the same.
  void parts.outbox.flush();
}

interface Sample {
  decisionId: string;
  token: string;
}

/** Tokens of what is to be moved; none where nothing is. */
async function samplesOf(from: Storage, to: Storage, now: number): Promise<Sample[]> {
  // A kill may have left an entry that is gone from there and has not arrived here.
  const broken = (await entriesIn(to.rewards)).some(({ moved }) => moved === 'arriving');
  const rewards = (await entriesIn(from.rewards)).filter((entry) =>
    entry.moved ? broken || entry.moved === 'arriving' : isMovable(entry, now),
  );
  const events = (await from.events.read(-1, samples)).flatMap(({ value }) => {
    if (!isEventRecord(value)) return [];
    try {
      const event = JSON.parse(value.events[0] ?? '') as { decision_id: string; token: string };
      return [{ decisionId: event.decision_id, token: event.token }];
    } catch {
      return [];
    }
  });
  return events.concat(rewards.reverse()).slice(0, samples);
}

/**
 * Whether tokens are of the account that this page has a key of: the service refuses those of another one.
 * Undefined while the service can't say.
 */
async function isSameAccount(
  client: AdoptionParts['client'],
  tokens: Sample[],
): Promise<boolean | undefined> {
  for (const { decisionId, token } of tokens) {
    const answer = await client.readReward(decisionId, token);
    if (answer.kind === 'ok') return true;
    if (answer.kind !== 'refused') return undefined;
    const { code } = answer.problem;
    // The token was right; only the decision is no longer stored.
    if (code === 'not_found' || code === 'decision_gone') return true;
    if (code !== 'token_invalid' && code !== 'environment_mismatch') return undefined;
  }
  return false;
}

/** Holds the lock by which the tabs of a queue decide who sends. */
const holding = (
  { locks = browserLocks() }: AdoptionParts,
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

/** Takes over what lies under one name; false when the service could not be asked whose it is. */
async function adopt(parts: AdoptionParts, name: string, signal: AbortSignal): Promise<boolean> {
  const { client, clock } = parts;
  const from = openStorage(name, clock);
  const to = openStorage(parts.name, clock);
  const verdictKey = `foreign:${name}`;
  try {
    const tokens = await samplesOf(from, to, clock.now());
    if (tokens.length === 0) return true;
    const verdict = await to.rewards('readonly', (store) =>
      promisifyRequest<{ at?: number } | undefined>(store.get(verdictKey)),
    );
    if (Math.abs(clock.now() - (verdict?.at ?? -Infinity)) < foreignForMs) return true;
    const same = await isSameAccount(client, tokens);
    if (same === undefined) return false;
    if (!same) {
      await to.rewards('readwrite', (store) => {
        store.put({ at: clock.now() }, verdictKey);
        return completed(store.transaction);
      });
      return true;
    }
    await holding(parts, `${name}:outbox`, signal, async () => {
      const adopted = await moveRewards(from.rewards, to.rewards, clock);
      await parts.rewards.refresh();
      parts.changed();
      await moveEvents(from, to, parts);
      // Whether these were watched, no event may say any more.
      for (const { decisionId, token } of adopted.filter(({ state }) => state === 'none')) {
        const answer = await client.readReward(decisionId, token);
        if (answer.kind === 'ok') await parts.rewards.settle([answer.body]);
      }
    });
    return true;
  } finally {
    from.close();
    to.close();
  }
}

/**
 * Takes over events and rewards that pages of this game left under an earlier publishable key, once the
 * service has confirmed that they are of the same account. What is of another account stays untouched. The
 * function that it returns ends this.
 */
export function adoptStorage(parts: AdoptionParts): () => void {
  const ended = new AbortController();
  void adoptAll(parts, ended.signal).catch(() => undefined);
  return () => ended.abort();
}

/** As {@link adoptStorage}; resolves when all that can be taken over now has been. */
export async function adoptAll(parts: AdoptionParts, signal: AbortSignal): Promise<void> {
  const names = (await indexedDB.databases()).map(({ name = '' }) => name);
  const done = await Promise.all(
    predecessors(names, parts.name).map((name) =>
      // A database that fails is tried again by the next page.
      adopt(parts, name, signal).catch(() => true),
    ),
  );
  if (done.every(Boolean) || signal.aborted) return;
  const end = parts.connectivity.onOnline(() => {
    end();
    void adoptAll(parts, signal).catch(() => undefined);
  });
  signal.addEventListener('abort', end);
}
