import { randomUUID } from 'node:crypto';
import type { Problem } from '@trueward/protocol/wire';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createObjects } from '../fuzz/objects.ts';
import { type InProcessService, startInProcess } from '../in-process.ts';
import { type Client, createClient } from './client.ts';

/*
 * What operators call things, and what players read. A name of spaces can't be found again, and one that turns its line
 * around can pass for another.
 */

let service: InProcessService;
let client: Client;
let objects: Record<string, string>;
beforeAll(async () => {
  service = await startInProcess();
  client = createClient(service);
  objects = await createObjects(service);
});
afterAll(() => service.stop());

const send = <T>(method: string, path: string, body: object) =>
  client.call<T>(method, path, client.secret, body);
const id = (kind: string): string => {
  const found = objects[kind];
  if (found === undefined)
    throw new Error(`There is no ${kind}. There are: ${Object.keys(objects).join()}.`);
  return found;
};

test.each([
  ['keys', { kind: 'secret' }],
  ['sources', { kind: 'house' }],
  ['advertisers', { domain: 'a.example' }],
  ['policies', { kind: 'policy', block: { categories: ['IAB7'] } }],
])('a new name in %s is one visible line', async (path, rest) => {
  for (const name of [' ', '\u202e', '\u200b\n']) {
    const { status, body } = await send<Problem>('POST', `/v1/${path}`, { ...rest, name });
    expect([status, body.errors?.map(({ pointer }) => pointer)]).toEqual([422, ['/name']]);
  }
  const { status, body } = await send<{ id: string; name: string }>('POST', `/v1/${path}`, {
    ...rest,
    name: ' Summer\n\u202esale ',
  });
  expect([status, body.name]).toEqual([201, 'Summer sale']);
  const change = await send<Problem>('PATCH', `/v1/${path}/${body.id}`, { name: '\u2067 ' });
  expect([change.status, change.body.errors?.[0]?.pointer]).toEqual([422, '/name']);
});

const reward = (type: string) => ({
  name: `p-${randomUUID()}`,
  format: 'rewarded',
  reward: { type, amount: 1 },
});
const rule = (type: string) => ({ formats: ['interstitial'], ad_free_with: type });
const grant = (member: object) => ({ type: 'coins', amount: 1, reason: 'A mistake', ...member });

test.each<[pointer: string, path: string, body: (text: string) => object]>([
  ['/reward/type', '/v1/placements', reward],
  ['/ad_free_with', '/v1/ad-rules', rule],
  ['/type', '/v1/wallets/ann/grants', (type) => grant({ type })],
  ['/reason', '/v1/wallets/ann/grants', (reason) => grant({ reason })],
  [
    '/on_behalf_of',
    '/v1/creatives/:creatives/review',
    (name) => ({ status: 'approved', on_behalf_of: name }),
  ],
])('%s of %s is one visible line, as it was sent', async (pointer, path, body) => {
  const at = path.replace(/:(\w+)/, (_, kind: string) => id(kind));
  for (const text of [' ', ' coins', 'coins ', 'co\nins', 'co\u202eins', '\u200b', 'co\u2028ins']) {
    const answer = await send<Problem>('POST', at, body(text));
    expect([text, answer.status, answer.body.errors]).toEqual([
      text,
      422,
      [{ pointer, message: expect.stringContaining('one line of visible text') as string }],
    ]);
  }
  for (const text of ['coins', 'c', '❤️', '👨‍👩‍👧', 'Gold coins', 'سکه‌ها'])
    expect((await send('POST', at, body(text))).status).toBeLessThan(300);
});
