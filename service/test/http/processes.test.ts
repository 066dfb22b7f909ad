import { setTimeout as sleep } from 'node:timers/promises';
import type { Delivery } from '@trueward/protocol/wire';
import { expect, test } from 'vitest';
import { startCluster } from '../faults/cluster.ts';
import { startPrivatePostgres } from '../private-postgres.ts';
import { createClient } from './client.ts';
import { startReceiver } from './receiver.ts';

test('two processes on one database are one service', async ({ skip }) => {
  const postgres = await startPrivatePostgres();
  if (!postgres) return skip('There is no PostgreSQL on this machine.');
  const receiver = await startReceiver(() => 200);
  const cluster = await startCluster({ databaseUrl: postgres.url, processes: 2 });
  try {
    const { keys, urls } = cluster;
    const [here, there] = urls.map((url) => createClient({ url, keys }));
    if (!here || !there) throw new Error('Two were started.');
    await here.call('POST', '/v1/webhooks', here.secret, {
      url: receiver.url,
      events: ['decision.rewarded'],
    });

    // Decided by one, reported to both at once: one reward, told once.
    const decision = await here.decideImage('both');
    await there.begin(decision);
    await sleep(5_000);
    const claims = [here, there].flatMap((one) =>
      Array.from({ length: 20 }, () =>
        one.report(one.seen(decision), one.event(decision, 'complete', { watched_ms: 5_000 })),
      ),
    );
    const answers = await Promise.all(claims);
    expect(answers.map(({ body }) => body.decisions[0]?.state)).toEqual(Array(40).fill('earned'));
    expect(new Set(answers.map(({ body }) => body.decisions[0]?.receipt)).size).toBe(1);
    const [delivered] = await receiver.count(1);
    const { type, data } = JSON.parse(delivered?.body ?? '') as { type: string; data: object };
    expect([type, data]).toMatchObject(['decision.rewarded', { decision_id: decision.id }]);
    const { body: hooks } = await here.call<{ data: { id: string }[] }>(
      'GET',
      '/v1/webhooks',
      here.secret,
    );
    const attempts = async (): Promise<number[]> => {
      const path = `/v1/webhooks/${hooks.data[0]?.id}/deliveries`;
      const { body } = await there.call<{ data: Delivery[] }>('GET', path, there.secret);
      return body.data.map((delivery) => delivery.attempts.length);
    };
    // An attempt is written down after the receiver's answer.
    await expect.poll(attempts).toEqual([1]);

    // A kill switch that one process was told stops the other one too.
    await here.call('POST', '/v1/kill-switches', here.secret, {
      scope: 'placement',
      target_id: 'revive',
      state: 'on',
      reason: 'a test',
    });
    let reason: string | undefined;
    while (reason !== 'killed') {
      const { body } = await there.decide({ placement: 'revive', user_ref: 'other' });
      reason = body.reason;
    }
    const { body } = await here.decide({ placement: 'revive', user_ref: 'other' });
    expect(body).toMatchObject({ status: 'no_fill', reason: 'killed' });
    expect(await attempts()).toEqual([1]);
    expect(await receiver.count(1)).toHaveLength(1);
  } finally {
    await cluster.stop();
    await receiver.close();
    await postgres.stop();
  }
});
