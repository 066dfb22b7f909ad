import { createRewards, type Rewards } from '../../../src/reward/rewards.ts';
import type { Ledger } from '../../../src/reward/ledger.ts';
import type { LedgerEntry } from '../../../src/reward/reward-machine.ts';
import type { ServiceResult, Call, Guard } from '../../../src/transport/service-client.ts';
import { createTestNetwork, createTestPage } from '../../support/ports.ts';
import type { World } from './world.ts';

/**
 * A player's device, with the game open in some tabs. It runs the SDK's real reward code. Its ledger survives when the
 * browser is killed.
 */
export interface Device {
  /** The foreground tab's reward code. */
  page(): Rewards;
  /** Kills the browser at an arbitrary point, then reopens the game. */
  kill(): void;
  /**
   * Simulates a player who returns to the game, which then polls the status of every reward. Resolves when every reward
   * is delivered.
   */
  returnToGame(): Promise<void>;
  /** How many times each reward was delivered to the game. */
  deliveryCount: ReadonlyMap<string, number>;
  kills(): number;
  entry(decisionId: string): LedgerEntry | undefined;
}

/** @param toDeviceTime - converts a time on the service's clock to the device's clock. */
export function createDevice(
  world: World,
  toDeviceTime: (ms: number) => number,
  tabCount: number,
): Device {
  const disk = new Map<string, LedgerEntry>();
  const deliveryCount = new Map<string, number>();
  let kills = 0;
  const openTabs = () => Array.from({ length: tabCount }, openTab);

  function openTab() {
    let alive = true;
    const page = createTestPage();
    const rewards = createRewards({
      clock: {
        now: () => toDeviceTime(world.clock.nowMs()),
        monotonic: world.clock.nowMs,
        // There are no timers. `returnToGame()` does their work instead.
        after: () => () => undefined,
      },
      random: Math.random,
      lifecycle: page,
      connectivity: createTestNetwork(),
      ledger: createSharedLedger(disk, () => alive),
      deliver(callback) {
        const immediate = setImmediate(callback);
        return () => clearImmediate(immediate);
      },
      player: { player: () => ({ ref: '' }), identify() {} },
      client: {
        async call<T>(path: string, _guard: Guard<T>, { headers = {} }: Call) {
          const id = path.replace(/^.*\/|\?.*$/g, '');
          const body = await world.statusFor(id, headers['decision-token'] ?? '');
          return { kind: 'ok', body } as ServiceResult<T>;
        },
      },
    });
    rewards.onReward(async ({ decisionId }) => {
      if (!alive) return;
      deliveryCount.set(decisionId, (deliveryCount.get(decisionId) ?? 0) + 1);
      // The game has saved the reward, but the handler has not finished. The browser may be killed at this point.
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
    async returnToGame() {
      restart();
      // In a browser, the next page's outbox would receive the responses that the killed page missed.
      for (const id of disk.keys()) await page().status(id);
      const isDue = ({ state, delivered }: LedgerEntry) => state === 'earned' && !delivered;
      for (let tick = 0; tick < 200 && [...disk.values()].some(isDue); tick += 1) {
        for (const tab of tabs) tab.page.emit('visible');
        await new Promise(setImmediate);
      }
      for (const tab of tabs) tab.kill();
    },
    deliveryCount,
    kills: () => kills,
    entry: (decisionId) => disk.get(decisionId),
  };
}

/** Creates a ledger that several tabs share. A killed tab no longer writes to the ledger. */
function createSharedLedger(disk: Map<string, LedgerEntry>, isAlive: () => boolean): Ledger {
  const entriesById = new Map<string, LedgerEntry>();
  // Asynchronous and atomic, like a database.
  const nextTurn = () => new Promise(setImmediate);
  const put = (entry: LedgerEntry): void => {
    disk.set(entry.decisionId, entry);
    entriesById.set(entry.decisionId, entry);
  };
  return {
    async add(entry) {
      await nextTurn();
      if (isAlive()) put(entry);
    },
    async change(decisionId, transition) {
      await nextTurn();
      const stored = disk.get(decisionId);
      if (!isAlive() || !stored) return undefined;
      const next = transition(stored);
      put(next);
      return next;
    },
    cached: () => [...entriesById.values()],
    async readAll() {
      await nextTurn();
      for (const entry of disk.values()) entriesById.set(entry.decisionId, entry);
      return [...entriesById.values()];
    },
    remove: async (ids) => ids.forEach((id) => disk.delete(id)),
    health: () => ({ storage: 'indexeddb' }),
    close: () => undefined,
  };
}
