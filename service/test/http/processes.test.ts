import type { Delivery } from '@trueward/protocol/wire';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Database } from '../../src/store/database.ts';
import { openPostgres } from '../../src/store/postgres.ts';
import { type Cluster, startCluster } from '../faults/cluster.ts';
import { createPostgresDatabase, hasPostgres } from '../postgres-database.ts';
import { type Client, createClient } from './client.ts';
import { startReceiver } from './receiver.ts';
import { ownRowsBy } from '../neighbor.ts';

describe.skipIf(!hasPostgres)('on PostgreSQL', () => {
  let cluster: Cluster;
  let database: Database;
  beforeAll(async () => {
    const databaseUrl = await createPostgresDatabase();
    cluster = await startCluster({
      databaseUrl,
      processes: 2,
      env: { RATE_LIMITS: 'on' },
      testClock: true,
    });
    database = openPostgres(databaseUrl, () => undefined);
  });
  afterAll(async () => {
    await database.close();
    await cluster.stop();
  });
  const createClients = (): [Client, Client] => {
    const { keys, urls, clock } = cluster;
    const [firstClient, secondClient] = urls.map((url) => createClient({ url, keys, clock }));
    if (!firstClient || !secondClient) throw new Error('Expected two services.');
    return [firstClient, secondClient];
  };

  test('two processes on one database act as one service', async () => {
    const receiver = await startReceiver(() => 200);
    const [firstClient, secondClient] = createClients();
    await firstClient.call('POST', '/v1/webhooks', firstClient.secret, {
      url: receiver.url,
      events: ['decision.rewarded'],
    });

    const registeredAtMs = performance.now();
    const readAgeS = async (): Promise<number> => {
      const text = await (await fetch(`${cluster.urls[1]}/metrics`)).text();
      return Number(/^trueward_configuration_age_seconds (\S+)$/m.exec(text)?.[1]);
    };
    // Waits until the other process has polled the configuration that contains the webhook.
    for (;;) {
      const elapsedS = (performance.now() - registeredAtMs) / 1_000;
      if ((await readAgeS()) < elapsedS) break;
    }

    // One process serves the ad. Both processes receive its completion at the same time.
    const decision = await firstClient.decideImage('both');
    await secondClient.reportStart(decision);
    await cluster.moveClock({ advanceMs: 5_000 });
    const reports = [firstClient, secondClient].flatMap((client) =>
      Array.from({ length: 20 }, () =>
        client.report(
          client.createImpression(decision),
          client.createEvent(decision, 'complete', { watched_ms: 5_000 }),
        ),
      ),
    );
    const responses = await Promise.all(reports);
    expect(responses.map(({ body }) => body.decisions[0]?.state)).toEqual(Array(40).fill('earned'));
    expect(new Set(responses.map(({ body }) => body.decisions[0]?.receipt)).size).toBe(1);
    const [deliveredRequest] = await receiver.waitForRequests(1);
    const { type, data } = JSON.parse(deliveredRequest?.body ?? '') as {
      type: string;
      data: object;
    };
    expect([type, data]).toMatchObject(['decision.rewarded', { decision_id: decision.id }]);
    const { body: webhooks } = await firstClient.call<{ data: { id: string }[] }>(
      'GET',
      '/v1/webhooks',
      firstClient.secret,
    );
    const countAttempts = async (): Promise<number[]> => {
      const path = `/v1/webhooks/${webhooks.data[0]?.id}/deliveries`;
      const { body } = await secondClient.call<{ data: Delivery[] }>(
        'GET',
        path,
        secondClient.secret,
      );
      return body.data.map((delivery) => delivery.attempts.length);
    };
    // Polls, because an attempt is recorded only after the receiver has responded.
    await expect.poll(countAttempts).toEqual([1]);

    // A kill switch applies to all processes.
    await firstClient.call('POST', '/v1/kill-switches', firstClient.secret, {
      scope: 'placement',
      target_id: 'revive',
      state: 'on',
      reason: 'a test',
    });
    let reason: string | undefined;
    for (let requests = 0; reason !== 'killed'; requests += 1) {
      const { body } = await secondClient.decide({
        placement: 'revive',
        user_ref: `other-${requests}`,
      });
      reason = body.reason;
    }
    const { body } = await firstClient.decide({ placement: 'revive', user_ref: 'other' });
    expect(body).toMatchObject({ status: 'no_fill', reason: 'killed' });
    expect(await countAttempts()).toEqual([1]);
    expect(await receiver.waitForRequests(1)).toHaveLength(1);
    await receiver.close();
  });

  test('requests to one process count toward the rate limit in the other process', async () => {
    const [firstClient, secondClient] = createClients();
    const countProcesses = async (): Promise<number | undefined> => {
      const [row] = await database.query<{ count: number }>(
        `SELECT count(DISTINCT process_id)::bigint AS count FROM limit_uses WHERE name = ''`,
      );
      return row?.count;
    };
    await expect.poll(countProcesses).toBe(2);
    const request = async (client: typeof firstClient): Promise<number> =>
      (await client.decide({ placement: 'revive', user_ref: 'flood' })).status;
    const flood = () => Promise.all(Array.from({ length: 65 }, () => request(firstClient)));
    const readCounts = () =>
      database.query<{ name: string }>(
        `SELECT name FROM limit_uses WHERE name <> '' AND ${ownRowsBy('name')}`,
      );
    const readLastSeenTimes = async () =>
      (
        await database.query<{ at: string }>(
          `SELECT seen_at::text AS at FROM limit_uses WHERE name = ''`,
        )
      ).map(({ at }) => at);
    /**
     * Resolves when both processes have read the current counts. Each process reads the counts after writing its own,
     * so two writes are enough.
     */
    const exchangeCounts = async (): Promise<void> => {
      for (let round = 0; round < 2; round += 1) {
        const timesBefore = await readLastSeenTimes();
        await expect
          .poll(
            async () =>
              (await readLastSeenTimes()).filter((at) => !timesBefore.includes(at)).length,
          )
          .toBe(2);
      }
    };
    // A process shares its usage only after it has detected the other process.
    await exchangeCounts();
    expect(await flood()).toContain(429);
    await exchangeCounts();
    expect(await readCounts()).not.toEqual([]);
    // A process shares a count only if the count exceeds a quarter of the limit.
    const startedAtMs = performance.now();
    let admittedCount = 0;
    while (admittedCount < 20 && (await request(secondClient)) === 200) admittedCount += 1;
    await exchangeCounts();
    while ((await request(secondClient)) === 200) admittedCount += 1;
    // Without shared counts, this process would admit 60 requests plus two per second.
    expect(admittedCount).toBeLessThan(40 + (2 * (performance.now() - startedAtMs)) / 1_000);
    // The stored names must not reveal users or IPs.
    expect((await readCounts()).every(({ name }) => /^[\w-]{22}$/.test(name))).toBe(true);

    await cluster.service(0).stop();
    expect(await countProcesses()).toBe(1);
  });
});
