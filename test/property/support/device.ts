import { createRewards, type Rewards } from '../../../src/reward/rewards.ts';
import type { Ledger } from '../../../src/reward/ledger.ts';
import type { LedgerEntry } from '../../../src/reward/reward-machine.ts';
import type { Answer, Call, Guard } from '../../../src/transport/service-client.ts';
import { testNetwork, testPage } from '../../support/ports.ts';
import type { World } from './world.ts';

/** A player's device with the game open in some tabs: the SDK's own rewards on a disk that survives kills. */
export interface Device {
  /** The tab that the player is at. */
  page(): Rewards;
  /** The browser is killed in the middle of whatever it does, and the game opened again. */
  kill(): void;
  /** The player comes back and asks for everything; resolves when nothing is left to hand over. */
  comeBack(): Promise<void>;
  /** How often the game was handed each reward. */
  handed: ReadonlyMap<string, number>;
  kills(): number;
  entry(decisionId: string): LedgerEntry | undefined;
}

/** @param clockOf - what the device's clock shows at a time of the service. */
export function createDevice(
  world: World,
  clockOf: (ms: number) => number,
  tabCount: number,
): Device {
  const disk = new Map<string, LedgerEntry>();
  const handed = new Map<string, number>();
  let kills = 0;
  const openTabs = () => Array.from({ length: tabCount }, openTab);

  function openTab() {
    let alive = true;
    const page = testPage();
    const rewards = createRewards({
      clock: {
        now: () => clockOf(world.clock.nowMs()),
        monotonic: world.clock.nowMs,
        // Nothing waits: what a timer would do, the player's return does.
        after: () => () => undefined,
      },
      random: Math.random,
      lifecycle: page,
      connectivity: testNetwork(),
      ledger: ledgerOn(disk, () => alive),
      deliver: (callback) => setImmediate(callback),
      player: { player: () => ({ ref: '' }), identify() {} },
      client: {
        async call<T>(path: string, _guard: Guard<T>, { headers = {} }: Call) {
          const id = path.replace(/^.*\/|\?.*$/g, '');
          const body = await world.statusFor(id, headers['decision-token'] ?? '');
          return { kind: 'ok', body } as Answer<T>;
        },
      },
    });
    rewards.onReward(async ({ decisionId }) => {
      if (!alive) return;
      handed.set(decisionId, (handed.get(decisionId) ?? 0) + 1);
      // The game saves; a kill can fall in here.
      await new Promise(setImmediate);
    });
    const kill = (): void => {
      alive = false;
      rewards.destroy();
    };
    return { rewards, page, kill };
  }

  let tabs = openTabs();
  const restart = (): void => {
    for (const tab of tabs) tab.kill();
    tabs = openTabs();
  };
  const page = (): Rewards => {
    const [first] = tabs;
    if (!first) throw new Error('The game is not open.');
    return first.rewards;
  };
  return {
    page,
    kill() {
      kills += 1;
      restart();
    },
    async comeBack() {
      restart();
      // The answers that a killed page never heard, the outbox of the next one is given.
      for (const id of disk.keys()) await page().status(id);
      const isDue = ({ state, delivered }: LedgerEntry) => state === 'earned' && !delivered;
      for (let turn = 0; turn < 200 && [...disk.values()].some(isDue); turn += 1) {
        for (const tab of tabs) tab.page.tell('visible');
        await new Promise(setImmediate);
      }
      for (const tab of tabs) tab.kill();
    },
    handed,
    kills: () => kills,
    entry: (decisionId) => disk.get(decisionId),
  };
}

/** A ledger on a disk that several tabs share; a dead tab writes no more. */
function ledgerOn(disk: Map<string, LedgerEntry>, isAlive: () => boolean): Ledger {
  const seen = new Map<string, LedgerEntry>();
  // As a database has it: a little later, and whole or not at all.
  const later = () => new Promise(setImmediate);
  const put = (entry: LedgerEntry): void => {
    disk.set(entry.decisionId, entry);
    seen.set(entry.decisionId, entry);
  };
  return {
    async add(entry) {
      await later();
      if (isAlive()) put(entry);
    },
    async change(decisionId, transition) {
      await later();
      const stored = disk.get(decisionId);
      if (!isAlive() || !stored) return undefined;
      const next = transition(stored);
      put(next);
      return next;
    },
    cached: () => [...seen.values()],
    async readAll() {
      await later();
      for (const entry of disk.values()) seen.set(entry.decisionId, entry);
      return [...seen.values()];
    },
    remove: async (ids) => ids.forEach((id) => disk.delete(id)),
    health: () => ({ storage: 'indexeddb' }),
    close: () => undefined,
  };
}
