import { afterAll, beforeAll, expect, test } from 'vitest';
import { createObjects } from '../fuzz/objects.ts';
import { type InProcessService, startInProcess } from '../in-process.ts';
import { type Client, createClient } from './client.ts';
import { type PanelClient, signInOwner } from './panel-client.ts';

// While a list is read page by page, rows are created and deleted. No row is listed twice, and none is missing that existed
// all the time. Some of the deleted rows are the one whose id is the cursor.

let running: InProcessService;
let client: Client;
let owner: PanelClient;
let webhook: string;
beforeAll(async () => {
  running = await startInProcess({ RATE_LIMITS: 'off' });
  client = createClient(running);
  owner = await signInOwner(running);
  webhook = `/v1/webhooks/${(await createObjects(running))['webhooks']}`;
});
afterAll(() => running.stop());

const grant = () =>
  client.manage('POST', '/v1/wallets/somebody/grants', { type: 'coins', amount: 1, reason: 'x' });
const decide = () => client.decide({ placement: 'revive', user_ref: 'somebody' });
const testWebhook = () => client.manage('POST', `${webhook}/test`, {});
const policy = { name: 'P', kind: 'policy', block: { domains: ['nowhere.example'] } };

test.each<[path: string, create: () => Promise<unknown>, tables: string[]]>([
  ['/panel/api/decisions?', decide, ['decisions']],
  ['/panel/api/decisions?player=somebody&', decide, ['decisions']],
  ['/panel/api/decisions?placement=revive&', decide, ['decisions']],
  ['{webhook}/deliveries?', testWebhook, ['delivery_queue', 'finished_deliveries']],
  ['/v1/webhook-events?', testWebhook, ['webhook_events']],
  ['/v1/audit-entries?', grant, ['audit_entries']],
  ['/v1/audit-entries?action=wallet&', grant, ['audit_entries']],
  ['/v1/wallets/somebody/entries?', grant, ['wallet_entries']],
  ['/v1/policies?', () => client.manage('POST', '/v1/policies', policy), ['resources']],
  [
    '/v1/jobs?',
    () => client.manage('POST', `${webhook}/recover?since=2026-01-01T00:00:00Z`, {}),
    ['jobs'],
  ],
  // The last one, because it may delete the client's own key.
  ['/v1/keys?', () => owner.send('POST', '/v1/keys', { kind: 'secret' }), ['keys']],
])('%s', async (row, create, tables) => {
  const path = row.replace('{webhook}', webhook);
  const read = async (query: string) => {
    const { status, body } = await owner.send<{ data: { id: string }[]; next_cursor?: string }>(
      'GET',
      `${path}${query}`,
    );
    expect([query, status]).toEqual([query, 200]);
    return { ids: body.data.map(({ id }) => id), next: body.next_cursor };
  };
  const deleted = new Set<string>();
  const erase = async (id: string | undefined) => {
    if (id === undefined) return;
    deleted.add(id);
    for (const table of tables)
      await running.service.database.query(`DELETE FROM ${table} WHERE id = $1`, [id]);
  };
  for (let count = 0; count < 8; count += 1) await create();
  const before = (await read('limit=100')).ids;
  const found: string[] = [];
  let page = await read('limit=2');
  for (let turn = 0; ; turn += 1) {
    found.push(...page.ids);
    if (page.next === undefined) break;
    await create();
    const unread = before.filter((id) => !found.includes(id) && !deleted.has(id));
    // The one that the cursor is, one that was read, the next one, and the last one.
    await erase([found.at(-1), found[0], unread[0], unread.at(-1)][turn % 4]);
    page = await read(`limit=2&starting_after=${page.next}`);
  }
  expect(found).toEqual([...new Set(found)]);
  const lasting = before.filter((id) => !deleted.has(id));
  expect(found.filter((id) => lasting.includes(id))).toEqual(lasting);
  expect(found.filter((id) => !before.includes(id))).toEqual([]);
});
