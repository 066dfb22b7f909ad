import { afterEach, beforeEach, expect, test } from 'vitest';
import { hashKey } from '../../src/access/key-store.ts';
import { type InProcessService, startInProcess } from '../in-process.ts';
import { createPanelClient } from './panel-client.ts';

let running: InProcessService;
beforeEach(async () => {
  running = await startInProcess({ RATE_LIMITS: 'off' });
});
afterEach(() => running.stop());

const makeLink = async () => (await running.service.users.links.makeForFirstOwner()) ?? '';
const redeem = async (token: string, email: string) =>
  (await createPanelClient(running.url).setUp(token, email)).status;

test('every link for the first owner ends with the first owner', async () => {
  const links = [await makeLink(), await makeLink()];
  expect(await redeem(links[0] ?? '', 'first@example.com')).toBe(200);
  expect(await redeem(links[1] ?? '', 'late@example.com')).toBe(404);
});

test('a link for the first owner ends with a user who was invited or imported', async () => {
  const { database } = running.service;
  const link = await makeLink();
  // An import copies rows, so it doesn't remove the link.
  await database.query(
    `INSERT INTO users (account_id, id, email, name, role, created_at)
      SELECT account_id, 'usr_imported', 'imported@example.com', 'I', 'viewer', now() FROM keys WHERE hash = $1`,
    [hashKey(running.keys.sandbox.secret)],
  );
  expect(await redeem(link, 'late@example.com')).toBe(404);
});

test('the first owner gets the first account, in whatever order accounts were stored', async () => {
  const { database, users } = running.service;
  await database.query(
    `INSERT INTO accounts (account_id, name, created_at) VALUES ('acc_0', 'First', now())`,
  );
  expect(await users.links.find(await makeLink())).toMatchObject({ accountId: 'acc_0' });
});
