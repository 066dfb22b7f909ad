import type { Delivery } from '@trueward/protocol/wire';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Database } from '../../src/store/database.ts';
import { openPostgres } from '../../src/store/postgres.ts';
import { type Cluster, startCluster } from '../faults/cluster.ts';
import { createPostgresDatabase, hasPostgres } from '../postgres-database.ts';
import { type Client, createClient } from './client.ts';
import { startReceiver } from './receiver.ts';

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
    const [first, second] = urls.map((url) => createClient({ url, keys, clock }));
    if (!first || !second) throw new Error('Expected two services.');
    return [first, second];
  };

  test('two processes on one database act as one service', async () => {
    const receiver = await startReceiver(() => 200);
    const [first, second] = createClients();
    await first.call('POST', '/v1/webhooks', first.secret, {
      url: receiver.url,
      events: ['decision.rewarded'],
    });

    const registeredMs = performance.now();
    const ageS = async (): Promise<number> => {
      const text = await (await fetch(`${cluster.urls[1]}/metrics`)).text();
      return Number(/^trueward_configuration_age_seconds (\S+)$/m.exec(text)?.[1]);
    };
    // Waits until the other process has polled the configuration, which contains the webhook.
    for (;;) {
      const sinceS = (performance.now() - registeredMs) / 1_000;
      if ((await ageS()) < sinceS) break;
    }

    // One process serves the ad. Both processes get its completion at the same time.
    const decision = await first.decideImage('both');
    await second.reportStart(decision);
    await cluster.moveClock({ advanceMs: 5_000 });
    const claims = [first, second].flatMap((client) =>
      Array.from({ length: 20 }, () =>
        client.report(
          client.createImpression(decision),
          client.createEvent(decision, 'complete', { watched_ms: 5_000 }),
        ),
      ),
    );
    const responses = await Promise.all(claims);
    expect(responses.map(({ body }) => body.decisions[0]?.state)).toEqual(Array(40).fill('earned'));
    expect(new Set(responses.map(({ body }) => body.decisions[0]?.receipt)).size).toBe(1);
    const [delivered] = await receiver.waitForRequests(1);
    const { type, data } = JSON.parse(delivered?.body ?? '') as { type: string; data: object };
    expect([type, data]).toMatchObject(['decision.rewarded', { decision_id: decision.id }]);
    const { body: hooks } = await first.call<{ data: { id: string }[] }>(
      'GET',
      '/v1/webhooks',
      first.secret,
    );
    const attempts = async (): Promise<number[]> => {
      const path = `/v1/webhooks/${hooks.data[0]?.id}/deliveries`;
      const { body } = await second.call<{ data: Delivery[] }>('GET', path, second.secret);
      return body.data.map((delivery) => delivery.attempts.length);
    };
    // Polls, because an attempt is recorded only after the receiver has responded.
    await expect.poll(attempts).toEqual([1]);

    // A kill switch applies to all processes.
    await first.call('POST', '/v1/kill-switches', first.secret, {
      scope: 'placement',
      target_id: 'revive',
      state: 'on',
      reason: 'a test',
    });
    let reason: string | undefined;
    for (let requests = 0; reason !== 'killed'; requests += 1) {
      const { body } = await second.decide({ placement: 'revive', user_ref: `other-${requests}` });
      reason = body.reason;
    }
    const { body } = await first.decide({ placement: 'revive', user_ref: 'other' });
    expect(body).toMatchObject({ status: 'no_fill', reason: 'killed' });
    expect(await attempts()).toEqual([1]);
    expect(await receiver.waitForRequests(1)).toHaveLength(1);
    await receiver.close();
  });

  test('requests to one process use up the limit in the other process', async () => {
    const [first, second] = createClients();
    const count = async (): Promise<number | undefined> => {
      const [row] = await database.query<{ count: number }>(
        `SELECT count(DISTINCT process_id)::bigint AS count FROM limit_uses`,
      );
      return row?.count;
    };
    await expect.poll(count).toBe(2);
    const request = async (client: typeof first): Promise<number> =>
      (await client.decide({ placement: 'revive', user_ref: 'flood' })).status;
    const flood = () => Promise.all(Array.from({ length: 65 }, () => request(first)));
    const counts = () =>
      database.query<{ name: string }>(`SELECT name FROM limit_uses WHERE name <> ''`);
    const seenAt = async () =>
      (
        await database.query<{ at: string }>(
          `SELECT seen_at::text AS at FROM limit_uses WHERE name = ''`,
        )
      ).map(({ at }) => at);
    /**
     * Resolves when both processes have the current counts. Each process reads the counts after writing its own, so two
     * writes are enough.
     */
    const exchangeCounts = async (): Promise<void> => {
      for (let round = 0; round < 2; round += 1) {
        const timesBefore = await seenAt();
        await expect
          .poll(async () => (await seenAt()).filter((at) => !timesBefore.includes(at)).length)
          .toBe(2);
      }
    };
    // A process shares its usage only after it has detected the other process.
    await exchangeCounts();
    expect(await flood()).toContain(429);
    await exchangeCounts();
    expect(await counts()).not.toEqual([]);
    // A process shares a count only if the count exceeds a quarter of the limit.
    const startedMs = performance.now();
    let admittedRequests = 0;
    while (admittedRequests < 20 && (await request(second)) === 200) admittedRequests += 1;
    await exchangeCounts();
    while ((await request(second)) === 200) admittedRequests += 1;
    // Without shared counts, this process would admit 60 requests plus two per second.
    expect(admittedRequests).toBeLessThan(40 + (2 * (performance.now() - startedMs)) / 1_000);
    // The stored names must not reveal users or IPs.
    expect((await counts()).every(({ name }) => /^[\w-]{22}$/.test(name))).toBe(true);

    await cluster.service(0).stop();
    expect(await count()).toBe(1);
  });
});
