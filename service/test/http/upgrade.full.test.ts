import { setTimeout as sleep } from 'node:timers/promises';
import type { AdEvent } from '@trueward/protocol/wire';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Cluster, startCluster } from '../faults/cluster.ts';
import { type Players, startPlayers } from '../faults/players.ts';
import { waitUntilDelivered, verify } from '../faults/verify.ts';
import { startPrivatePostgres } from '../private-postgres.ts';
import { buildPrevious } from '../upgrade/build-previous.ts';
import { createClient } from './client.ts';
import { startReceiver } from './receiver.ts';

const postgres = await startPrivatePostgres();

/** The number of players whose devices go offline after the ad has loaded. */
const offlineAtATime = 10;
/** The number of rewards that online players must earn before the next process is replaced. */
const between = 20;
const watchMs = 5_100;

describe.skipIf(postgres === undefined)(
  'the previous release and this one on the same PostgreSQL server',
  () => {
    let previous: string;
    let cluster: Cluster;
    let players: Players;
    let receiver: Awaited<ReturnType<typeof startReceiver>>;
    beforeAll(async () => {
      previous = await buildPrevious();
      cluster = await startCluster({
        databaseUrl: postgres?.url ?? '',
        processes: 2,
        env: { DRAIN_S: '1' },
        main: previous,
      });
      receiver = await startReceiver();
      const client = clientOf(0);
      await client.call('POST', '/v1/webhooks', client.secret, {
        url: receiver.url,
        events: ['decision.rewarded'],
      });
      players = startPlayers({ urls: cluster.urls, key: client.publishable, count: 16 });
    }, 600_000);
    afterAll(async () => {
      await players.stop();
      await cluster.stop();
      await receiver.close();
      await postgres?.stop();
    });

    const clientOf = (index: number) =>
      createClient({ url: cluster.urls[index] ?? '', keys: cluster.keys });

    let count = 0;
    /**
     * Watches ads from the process `decider` on offline devices, and returns the events that are still to be reported.
     * With `starter`, the start events are reported to that process first.
     */
    async function watch(decider: number, starter?: number) {
      const decide = async () => {
        count += 1;
        return clientOf(decider).decideImage(`offline-${count}`);
      };
      const decisions = await Promise.all(Array.from({ length: offlineAtATime }, decide));
      const client = clientOf(decider);
      const starts = decisions.map((decision) => client.event(decision, 'start'));
      if (starter !== undefined)
        await Promise.all(starts.map((start) => clientOf(starter).report(start)));
      await sleep(watchMs);
      const queuedEvents = decisions.map((decision, index): AdEvent[] => [
        ...(starter === undefined ? starts.slice(index, index + 1) : []),
        client.seen(decision),
        client.event(decision, 'complete', { watched_ms: 5_000 }),
      ]);
      return async (reporter: number): Promise<(string | undefined)[]> => {
        const responses = queuedEvents.map((events) => clientOf(reporter).report(...events));
        return (await Promise.all(responses)).map(({ body }) => body.decisions[0]?.state);
      };
    }
    const allEarned = Array<string>(offlineAtATime).fill('earned');

    test('no reward of either release is lost in a rolling upgrade, a rollback and another upgrade', async () => {
      const [one, two] = [0, 1];
      await players.progress(between);
      const keptAcross = [await watch(one), await watch(two, one)];

      await cluster.roll(one);
      // `one` runs this release and `two` the previous one. Covers every combination of the two.
      const mixed = await Promise.all([watch(one, two), watch(two, one), watch(one), watch(two)]);
      await players.progress(between);
      const reports = await Promise.all(
        mixed.map((report, index) => report(index % 2 === 0 ? two : one)),
      );
      expect(reports).toEqual(mixed.map(() => allEarned));

      await cluster.roll(two);
      for (const report of keptAcross) expect(await report(two)).toEqual(allEarned);
      const keptByThisTree = [await watch(one), await watch(two, one)];
      await players.progress(between);

      await cluster.roll(one, previous);
      await players.progress(between);
      expect(await keptByThisTree[0]?.(one)).toEqual(allEarned);
      await cluster.roll(two, previous);
      expect(await keptByThisTree[1]?.(two)).toEqual(allEarned);
      const keptByPrevious = await watch(two);
      await players.progress(between);

      await cluster.roll(one);
      await cluster.roll(two);
      expect(await keptByPrevious(one)).toEqual(allEarned);
      await players.progress(between);

      await players.stop();
      await waitUntilDelivered(postgres?.url ?? '');
      const verdict = await verify(postgres?.url ?? '', players.acknowledged, receiver.received);
      expect({ ...verdict, wrong: players.wrong }).toEqual({
        lost: [],
        duplicated: [],
        undelivered: [],
        inconsistent: [],
        wrong: [],
      });
    }, 600_000);
  },
);
