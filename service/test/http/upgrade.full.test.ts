import { setTimeout as sleep } from 'node:timers/promises';
import type { AdEvent } from '@trueward/protocol/wire';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Cluster, startCluster } from '../faults/cluster.ts';
import { type Players, startPlayers } from '../faults/players.ts';
import { waitUntilDelivered, verify } from '../faults/verify.ts';
import { verifyWallets } from '../kills/compare-wallets.ts';
import { startWalletPlayers, type WalletPlayers } from '../kills/wallet-players.ts';
import { startPrivatePostgres } from '../private-postgres.ts';
import { buildPrevious } from '../upgrade/build-previous.ts';
import { createClient } from './client.ts';
import { startReceiver } from './receiver.ts';

const postgres = await startPrivatePostgres();

/** The number of players whose devices go offline after an ad is loaded. */
const offlineDeviceCount = 10;
/** The number of rewards that online players must earn before the next process is replaced. */
const rewardsBetweenSteps = 20;
const watchMs = 5_100;

describe.skipIf(postgres === undefined)(
  'the previous and the current release sharing a PostgreSQL server',
  () => {
    let previousMain: string;
    let cluster: Cluster;
    let players: Players;
    let walletPlayers: WalletPlayers;
    let receiver: Awaited<ReturnType<typeof startReceiver>>;
    beforeAll(async () => {
      previousMain = await buildPrevious();
      cluster = await startCluster({
        databaseUrl: postgres?.url ?? '',
        processes: 2,
        env: { DRAIN_S: '1' },
        main: previousMain,
      });
      receiver = await startReceiver();
      const client = getClient(0);
      await client.call('POST', '/v1/webhooks', client.secret, {
        url: receiver.url,
        events: ['decision.rewarded'],
      });
      players = startPlayers({ urls: cluster.urls, key: client.publishable, count: 16 });
      const { publishable: key } = client;
      walletPlayers = startWalletPlayers({ urls: cluster.urls, key, count: 8 });
    }, 600_000);
    afterAll(async () => {
      await players.stop();
      await walletPlayers.abandon();
      await cluster.stop();
      await receiver.close();
      await postgres?.stop();
    });

    const getClient = (index: number) =>
      createClient({ url: cluster.urls[index] ?? '', keys: cluster.keys });

    let playerCount = 0;
    /**
     * Requests ads from process `decisionProcess` for devices that then go offline. Returns a function that reports
     * the events. If `startProcess` is set, the start events are reported to it before the devices go offline.
     */
    async function watch(decisionProcess: number, startProcess?: number) {
      const decide = async () => {
        playerCount += 1;
        return getClient(decisionProcess).decideImage(`offline-${playerCount}`);
      };
      const decisions = await Promise.all(Array.from({ length: offlineDeviceCount }, decide));
      const client = getClient(decisionProcess);
      const startEvents = decisions.map((decision) => client.createEvent(decision, 'start'));
      if (startProcess !== undefined)
        await Promise.all(startEvents.map((start) => getClient(startProcess).report(start)));
      await sleep(watchMs);
      const queuedEvents = decisions.map((decision, index): AdEvent[] => [
        ...(startProcess === undefined ? startEvents.slice(index, index + 1) : []),
        client.createImpression(decision),
        client.createEvent(decision, 'complete', { watched_ms: 5_000 }),
      ]);
      return async (reportProcess: number): Promise<(string | undefined)[]> => {
        const responses = queuedEvents.map((events) => getClient(reportProcess).report(...events));
        return (await Promise.all(responses)).map(({ body }) => body.decisions[0]?.state);
      };
    }
    const allEarned = Array<string>(offlineDeviceCount).fill('earned');

    test('rolling upgrades and rollbacks do not lose any rewards, or anything in a wallet', async () => {
      const [firstProcess, secondProcess] = [0, 1];
      await players.waitForRewards(rewardsBetweenSteps);
      const reportsAfterUpgrade = [
        await watch(firstProcess),
        await watch(secondProcess, firstProcess),
      ];

      await cluster.roll(firstProcess);
      // The first process runs this release, and the second process runs the previous release. The calls cover every
      // combination of the two.
      const mixedReports = await Promise.all([
        watch(firstProcess, secondProcess),
        watch(secondProcess, firstProcess),
        watch(firstProcess),
        watch(secondProcess),
      ]);
      await players.waitForRewards(rewardsBetweenSteps);
      const reports = await Promise.all(
        mixedReports.map((report, index) => report(index % 2 === 0 ? secondProcess : firstProcess)),
      );
      expect(reports).toEqual(mixedReports.map(() => allEarned));

      await cluster.roll(secondProcess);
      for (const report of reportsAfterUpgrade)
        expect(await report(secondProcess)).toEqual(allEarned);
      const reportsAfterRollback = [
        await watch(firstProcess),
        await watch(secondProcess, firstProcess),
      ];
      await players.waitForRewards(rewardsBetweenSteps);

      await cluster.roll(firstProcess, previousMain);
      await players.waitForRewards(rewardsBetweenSteps);
      expect(await reportsAfterRollback[0]?.(firstProcess)).toEqual(allEarned);
      await cluster.roll(secondProcess, previousMain);
      expect(await reportsAfterRollback[1]?.(secondProcess)).toEqual(allEarned);
      const reportAfterSecondUpgrade = await watch(secondProcess);
      await players.waitForRewards(rewardsBetweenSteps);

      await cluster.roll(firstProcess);
      await cluster.roll(secondProcess);
      expect(await reportAfterSecondUpgrade(firstProcess)).toEqual(allEarned);
      await players.waitForRewards(rewardsBetweenSteps);

      await players.stop();
      expect(walletPlayers.countChanges()).toBeGreaterThan(100);
      expect(await verifyWallets(postgres?.url ?? '', walletPlayers)).toEqual([]);
      await waitUntilDelivered(postgres?.url ?? '');
      const verdict = await verify(postgres?.url ?? '', players.acknowledged, receiver.requests);
      expect({ ...verdict, unexpectedResponses: players.unexpectedResponses }).toEqual({
        lost: [],
        duplicated: [],
        undelivered: [],
        inconsistent: [],
        unexpectedResponses: [],
      });
    }, 600_000);
  },
);
