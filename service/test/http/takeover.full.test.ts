import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, test } from 'vitest';
import { openPostgres } from '../../src/store/postgres.ts';
import { leaseMs } from '../../src/webhook/leases.ts';
import { ownRows } from '../neighbor.ts';
import { createPostgresDatabase, hasPostgres } from '../postgres-database.ts';
import { startService } from '../start-service.ts';
import { createClient } from './client.ts';

/** Far more than the clocks of processes on one machine differ. */
const clockDifferenceMs = 500;
const events = 24;

/** Starts a receiver that answers no request until `answer` is called. */
async function startHangingReceiver() {
  const hanging: ServerResponse[] = [];
  let isAnswering = false;
  let notify: () => void = () => undefined;
  const server = createServer((request, response) => {
    request.resume();
    if (isAnswering) response.end();
    else hanging.push(response);
    notify();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    async waitForHanging(): Promise<void> {
      while (hanging.length === 0) await new Promise<void>((resolve) => (notify = resolve));
    },
    answer() {
      isAnswering = true;
      for (const response of hanging) response.end();
    },
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
}

test.skipIf(!hasPostgres)(
  'when a process is killed, another one delivers what it was delivering as soon as the leases end',
  async () => {
    const env = { DATABASE_URL: await createPostgresDatabase(), RATE_LIMITS: 'off' };
    const receiver = await startHangingReceiver();
    const victim = await startService({ env });
    const survivor = await startService({ env, dataDir: victim.dataDir });
    const database = openPostgres(env.DATABASE_URL, () => undefined);
    try {
      const client = createClient(victim);
      await client.call('POST', '/v1/webhooks', client.secret, {
        url: receiver.url,
        events: ['kill_switch.changed'],
      });
      for (let count = 0; count < events; count += 1)
        await client.call('POST', '/v1/kill-switches', client.secret, {
          scope: 'placement',
          target_id: 'lobby',
          state: count % 2 === 0 ? 'on' : 'off',
          reason: 'test',
        });
      await receiver.waitForHanging();
      await victim.kill();
      const killedAtMs = performance.now();
      const [leased] = await database.query<{ ms: number }>(
        `SELECT (1000 * extract(epoch FROM max(lease_until) - clock_timestamp()))::float8 AS ms
          FROM delivery_queue WHERE ${ownRows}`,
      );
      receiver.answer();
      const countQueued = async (): Promise<number | undefined> =>
        (
          await database.query<{ count: number }>(
            `SELECT count(*)::bigint FROM delivery_queue WHERE ${ownRows}`,
          )
        )[0]?.count;
      await expect.poll(countQueued).toBe(0);
      console.log(`taken over after ${Math.round(performance.now() - killedAtMs)} ms`);
      // Due deliveries are claimed within another second.
      expect(leased?.ms).toBeGreaterThan(0);
      expect(leased?.ms).toBeLessThanOrEqual(leaseMs + clockDifferenceMs);
      expect(leaseMs).toBeLessThanOrEqual(4_000);
    } finally {
      await database.close();
      await survivor.stop();
      await victim.stop();
      receiver.close();
    }
  },
);
