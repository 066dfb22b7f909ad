import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createPostgresDatabase, hasPostgres } from '../postgres-database.ts';
import { type RunningService, startService } from '../start-service.ts';
import { createClient } from './client.ts';

const preload = fileURLToPath(new URL('../shift-date.mjs', import.meta.url));
const watches = 120;
const services: RunningService[] = [];

beforeAll(async () => {
  if (!hasPostgres) return;
  const DATABASE_URL = await createPostgresDatabase();
  const start = async (clock: Record<string, string>) => {
    const dataDir = services[0]?.dataDir;
    const env = { DATABASE_URL, RATE_LIMITS: 'off', NODE_OPTIONS: `--import=${preload}`, ...clock };
    services.push(await startService({ env, ...(dataDir === undefined ? {} : { dataDir }) }));
  };
  await start({ SHIFT_DATE_MS: '-1000' });
  await start({ STEP_DATE_MS: '-3000', STEP_DATE_AFTER_MS: '8000' });
});
afterAll(async () => {
  for (const service of services.toReversed()) await service.stop();
});

test.skipIf(!hasPostgres).each(['-3700000', '3700000'])(
  'a process whose clock differs from the database’s by %s ms refuses to start, and says both times',
  async (SHIFT_DATE_MS) => {
    const env = {
      DATABASE_URL: await createPostgresDatabase(),
      NODE_OPTIONS: `--import=${preload}`,
      SHIFT_DATE_MS,
    };
    await expect(startService({ env })).rejects.toThrow(
      /The database's clock says \S+Z and this machine's clock says \S+Z: .* Synchronize both machines/,
    );
  },
);

test.skipIf(!hasPostgres)(
  'two processes, one of which is a second behind and one of which is set back by three, deny nobody',
  async () => {
    const clients = services.map((service) => createClient(service));
    const anyClient = () => clients[Math.floor(Math.random() * clients.length)] as never as Client;
    type Client = (typeof clients)[number];
    const watch = async (): Promise<string | undefined> => {
      const decision = await anyClient().decideImage(randomUUID());
      await anyClient().reportStart(decision);
      await sleep(5_005);
      const client = anyClient();
      await anyClient().report(client.createImpression(decision));
      const complete = client.createEvent(decision, 'complete', { watched_ms: 5_000 });
      const { body } = await anyClient().report(complete);
      return body.decisions[0]?.state;
    };
    const states = await Promise.all(
      Array.from({ length: watches }, async (_, index) => {
        await sleep(index * 150);
        return watch();
      }),
    );
    expect(states.filter((state) => state !== 'earned')).toEqual([]);
  },
);
