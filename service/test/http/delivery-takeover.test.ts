import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Database } from '../../src/store/database.ts';
import { migrate } from '../../src/store/migrate.ts';
import { leaseMs } from '../../src/webhook/leases.ts';
import { openEmptyDatabase } from '../empty-database.ts';
import { addDelivery, startTestDispatcher } from './test-dispatcher.ts';

let database: Database;
beforeAll(async () => {
  database = await openEmptyDatabase();
  await migrate(database);
});
afterAll(() => database.close());

test('a dead process’s deliveries are taken over when its lease ends, those in progress never', async () => {
  const sent: string[] = [];
  let respond: () => void = () => undefined;
  const response = new Promise<void>((resolve) => (respond = resolve));
  await addDelivery(database, 'slow');
  let notifySend: () => void = () => undefined;
  const firstSend = new Promise<void>((resolve) => (notifySend = resolve));
  let notifyTakeover: () => void = () => undefined;
  const takeover = new Promise<void>((resolve) => (notifyTakeover = resolve));
  // Either process may take over the other delivery.
  const startNamed = (name: string) =>
    startTestDispatcher(database, async (id) => {
      sent.push(`${name}: ${id}`);
      if (id === 'evt_dead') return notifyTakeover();
      notifySend();
      await response;
    });
  const slow = startNamed('slow process');
  await firstSend;
  await addDelivery(database, 'dead', leaseMs);
  const survivor = startNamed('survivor');
  await takeover;
  respond();
  await Promise.all([slow.stop(), survivor.stop()]);
  expect(sent.filter((text) => text.includes('evt_slow'))).toEqual(['slow process: evt_slow']);
  const unsent = `SELECT id FROM deliveries WHERE account_id = 'acc_1' AND state <> 'delivered'`;
  expect(await database.query(unsent)).toEqual([]);
}, 20_000);
