import { promisifyRequest } from 'idb-keyval';
import type { Ads } from '../../src/index.ts';
import { createIndexedDbStore } from '../../src/outbox/event-store.ts';
import { systemClock } from '../../src/platform/clock.ts';
import { createLedger } from '../../src/reward/ledger.ts';
import type { LedgerEntry } from '../../src/reward/reward-machine.ts';
import { createDeviceStore } from '../../src/wallet/device-store.ts';
import { createStubService, makeKey, onNewGame } from '../support/stub-service.ts';

/**
 * The SDK's neighbor has three parts, none of which a test addresses: a second game on the origin, with something
 * waiting in everything that the SDK stores; a second player in every game; and on pages with ads, a second instance
 * with an ad and handlers of its own. Code that changes them has lost what tells it whose data it has.
 */

/** Names contain this text. A test may not use it. */
const marker = 'nextd00r';
const player = `${marker}-player`;
const gameName = `trueward:sandbox_${marker}00@ads.test`;
const adRulesKey = `${gameName}:ad-rules`;

/** What the SDK stores on the device, by the last part of its name. */
export const storageKinds = ['ad-rules', 'outbox', 'rewards', 'wallet'];
const databases = [`${gameName}:outbox`, `${gameName}:rewards`, `${gameName}:wallet`];

const reward: LedgerEntry = {
  v: 1,
  decisionId: `dec_${marker}`,
  token: 'token',
  placement: marker,
  state: 'earned',
  reward: { type: 'coins', amount: 7 },
  earnedBy: player,
  heldFor: player,
  trackedAt: Date.now(),
  earnedAt: Date.now(),
  delivered: false,
};
const spend = {
  v: 1 as const,
  id: `spend_${marker}`,
  ref: player,
  type: 'coins',
  amount: 3,
  charged: true,
};
const shown = { ref: player, balances: { coins: 4 }, ends: {}, offsetMs: 0, version: 5 };
const rules = [{ formats: ['rewarded'], max_per_day: 1 }];
const adRules = {
  at: Date.now(),
  age: 0,
  away: 0,
  ads: [{ id: `dec_${marker}`, format: 'rewarded', placement: marker, ago: 0 }],
  limits: { version: marker, rules },
  formats: { [marker]: 'rewarded' },
  waits: { rewarded: 60_000 },
};

/** The id of the reward that waits for the second player in each game. */
export const waitingRewardId = reward.decisionId;

/** A database whose name begins with this text has no second player. */
export const alone = 'alone';

/** What the second player has in each object store of each game. */
const playerRows: Record<string, [key: string, value: object][]> = {
  rewards: [[reward.decisionId, reward]],
  device: [[`wallet ${player}`, shown]],
  spends: [[spend.id, spend]],
};

const { createObjectStore } = IDBDatabase.prototype;
const { put } = IDBObjectStore.prototype;
/** The databases that the test file has created with a second player. */
const sharedNames = new Set<string>();

IDBDatabase.prototype.createObjectStore = function addWithPlayer(name, options) {
  const store = createObjectStore.call(this, name, options);
  const isShared = !this.name.startsWith(gameName) && !this.name.startsWith(alone);
  const rows = isShared ? (playerRows[name] ?? []) : [];
  for (const [key, value] of rows) put.call(store, value, key);
  if (rows.length > 0) sharedNames.add(this.name);
  return store;
};

/** Reads a database as text: each object store's rows. */
async function readDatabase(name: string): Promise<Map<string, string>> {
  const connection = await promisifyRequest(indexedDB.open(name));
  const rows = new Map<string, string>();
  try {
    for (const storeName of connection.objectStoreNames) {
      const store = connection.transaction(storeName).objectStore(storeName);
      const [keys, values] = await Promise.all([
        promisifyRequest(store.getAllKeys()),
        promisifyRequest<unknown[]>(store.getAll()),
      ]);
      for (const [index, key] of keys.entries())
        rows.set(`${storeName} ${JSON.stringify(key)}`, JSON.stringify(values[index]));
      if (keys.length === 0) rows.set(storeName, '');
    }
  } finally {
    connection.close();
  }
  return rows;
}

/** Reads what the second game has stored. */
async function readGame(): Promise<Map<string, string>> {
  const rows = new Map([['ad-rules', String(localStorage.getItem(adRulesKey))]]);
  for (const name of databases)
    for (const [key, value] of await readDatabase(name))
      rows.set(`${name.slice(gameName.length + 1)} ${key}`, value);
  return rows;
}

let planted: Map<string, string> | undefined;

/** Stores the second game's data. The browser keeps it for the next test files. */
export async function plantNeighbor(): Promise<void> {
  if (localStorage.getItem(adRulesKey) === null) {
    localStorage.setItem(adRulesKey, JSON.stringify(adRules));
    const common = { clock: systemClock };
    const outbox = createIndexedDbStore({ ...common, name: `${gameName}:outbox` });
    await outbox.append([{ v: 1, events: [`{"id":"${marker}"}`] }]);
    const ledger = createLedger({ ...common, name: `${gameName}:rewards` });
    await ledger.add(reward);
    const device = createDeviceStore({ ...common, name: gameName });
    await device.writeGuest({ ref: player, token: 'token' });
    await device.writeWallet(shown);
    await device.writeSpend(spend);
    for (const store of [outbox, ledger, device]) store.close();
  }
  planted = await readGame();
  const empty = [...planted].filter(([, value]) => value === '').map(([key]) => key);
  if (empty.length > 0)
    throw new Error(`Add rows of the neighbor to ${empty.join(', ')} in test/browser/neighbor.ts.`);
}

/** Returns how the second player's rows in this database have changed. */
export async function findPlayerChanges(name: string): Promise<string[]> {
  if (!sharedNames.delete(name)) return [];
  const rows = await readDatabase(name);
  const stores = new Set([...rows.keys()].map((key) => key.split(' ')[0] ?? ''));
  return [...stores].flatMap((store) =>
    (playerRows[store] ?? [])
      .filter(
        ([key, value]) => rows.get(`${store} ${JSON.stringify(key)}`) !== JSON.stringify(value),
      )
      .map(([key]) => `${store} ${key} in ${name}`),
  );
}

let instance: Promise<() => string[]> | undefined;

/** Starts the second instance. Resolves to a function that returns what has changed in it. */
async function startInstance(): Promise<() => string[]> {
  const { createAds } = await import('../../src/index.ts');
  const service = createStubService();
  const ads: Ads = createAds({
    publishableKey: makeKey(`${marker}99`),
    serviceUrl: 'https://ads.test',
    userRef: `${marker}-other`,
    fetch: service.fetch,
  });
  const changes: string[] = [];
  for (const event of ['open', 'start', 'close', 'result', 'reward', 'spend'] as const)
    ads.on(event, () => void changes.push(`its handler of ${event} was called`));
  await ads.preload(marker);
  const startedAtMs = performance.now();
  return () => {
    const { outcome } = ads.availability(marker);
    // After a minute, a preloaded ad is requested again.
    const isFresh = performance.now() - startedAtMs < 50_000 && outcome !== 'already_showing';
    if (isFresh && !ads.isLoaded(marker)) changes.push('its ad is gone');
    if (service.requested.join() !== marker)
      changes.push(`it requested ${service.requested.join()}`);
    changes.push(...service.events.map(({ type }) => `it sent ${type}`));
    ads.destroy();
    return changes.map((change) => `the second instance: ${change}`);
  };
}

onNewGame(() => {
  instance ??= startInstance();
});

/**
 * Checks that nothing of the neighbor has changed.
 *
 * @throws Error that names what has changed, and the kinds of storage that have no neighbor.
 */
export async function checkNeighbor(): Promise<void> {
  const found = await readGame();
  const changes = [...found].filter(([key, value]) => planted?.get(key) !== value);
  const problems = changes.map(([key]) => `the second game’s ${key}`);
  const present = (await indexedDB.databases()).map(({ name = '' }) => name);
  for (const name of present) problems.push(...(await findPlayerChanges(name)));
  for (const name of [...present, ...Object.keys(localStorage), ...Object.keys(sessionStorage)])
    if (name.startsWith('trueward:') && !storageKinds.includes(name.split(':').at(-1) ?? ''))
      problems.push(`${name}, which is a kind of storage without a neighbor`);
  problems.push(...((await instance)?.() ?? []));
  if (problems.length > 0)
    throw new Error(
      `A test in this file changed the neighbor, which is another game, player or instance: ${problems.join('; ')}.`,
    );
}
