import { request as send } from 'node:http';
import type { Problem } from '@trueward/protocol/wire';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { makeKeyText } from '../../src/key/key-text.ts';
import { type InProcessService, startInProcess } from '../in-process.ts';
import { type Client, createClient } from './client.ts';

let service: InProcessService;
let client: Client;
beforeAll(async () => {
  service = await startInProcess();
  client = createClient(service);
});
afterAll(() => service.stop());

const good = { placement: 'revive', user_ref: 'u', formats: ['image'] };
const events = (...ids: unknown[]) => ({
  sent_at: '2026-01-01T00:00:00.000Z',
  events: ids.map((id) => ({ id, type: 'start' })),
});

/** As deep as a body can be; the escape makes the service look into all of it. */
const deep = `${'['.repeat(32_000)}"\\u0000"${']'.repeat(32_000)}`;

/** Of the message and its connection: Fastify closes that when it refuses a body, the short way keeps it. */
const ofConnection = ['content-length', 'keep-alive'];

/** What is the same whoever answers, and whenever. */
async function shapeOf(
  path: string,
  key: string | undefined,
  body: unknown,
  headers: Record<string, string> = {},
) {
  const answer = await client.call<Partial<Problem>>('POST', path, key, body, headers);
  const names = [...answer.headers.keys()].filter((name) => !ofConnection.includes(name));
  const { request_id: _, ...rest } = answer.body;
  const told =
    answer.status === 200 && path.startsWith('/v1/decisions') ? Object.keys(rest).toSorted() : rest;
  return { status: answer.status, names, type: answer.headers.get('content-type'), told };
}

test.each([
  ['a decision', '/v1/decisions', 'publishable', good, {}],
  ['a decision for a page', '/v1/decisions', 'publishable', good, { origin: 'https://a.example' }],
  ['a secret key in a page', '/v1/decisions', 'secret', good, { origin: 'https://a.example' }],
  ['a placement that is not there', '/v1/decisions', 'publishable', { placement: 'no' }, {}],
  ['an unknown member', '/v1/decisions', 'publishable', { ...good, more: 1 }, {}],
  ['half of a body', '/v1/decisions', 'publishable', '{"placement":', {}],
  ['text that cannot be stored', '/v1/decisions', 'publishable', { placement: 'a\0b' }, {}],
  ['nesting without end', '/v1/decisions', 'publishable', deep, {}],
  ['no key', '/v1/decisions', undefined, good, {}],
  ['an unknown key', '/v1/decisions', makeKeyText('pk', 'sandbox'), good, {}],
  [
    'an error that was asked for',
    '/v1/decisions',
    'publishable',
    { ...good, simulate: 'error' },
    {},
  ],
  ['events', '/v1/events', 'publishable', events('a', 'b'), {}],
  ['an event without an id', '/v1/events', 'publishable', events(null), {}],
  ['events with a secret key', '/v1/events', 'secret', events('a'), {}],
] as [string, string, string | undefined, unknown, Record<string, string>][])(
  'the short way and the long one answer the same to %s',
  async (_name, path, key, body, headers) => {
    const text = key === 'publishable' || key === 'secret' ? client[key] : key;
    // A query string is left to the long way; of an empty one, the fetch of Node 20 and 22 sends nothing.
    expect(await shapeOf(path, text, body, headers)).toEqual(
      await shapeOf(`${path}?long`, text, body, headers),
    );
  },
);

test('a body that nests without end is refused wherever it is sent, and one with a deep member as well', async () => {
  const placement = `{"name":"deep","format":"rewarded","more":${deep}}`;
  for (const [path, key, body] of [
    ['/v1/decisions', client.publishable, deep],
    ['/v1/events', client.publishable, deep],
    ['/v1/placements', client.secret, placement],
    ['/v1/placements', client.secret, '{"a":'.repeat(33) + '1' + '}'.repeat(33)],
  ] as const) {
    const answer = await client.call<Problem>('POST', path, key, body);
    expect([answer.status, answer.body.code]).toEqual([422, 'invalid_request']);
    expect(answer.body.detail).toContain('32 levels');
  }
});

test('a body of unknown length is taken as well, and one that is too long is refused', async () => {
  const post = (body: string, headers: Record<string, string>): Promise<number> =>
    new Promise((resolve, reject) => {
      const request = send(
        `${service.url}/v1/decisions`,
        {
          method: 'POST',
          headers: {
            authorization: `Bearer ${client.publishable}`,
            'content-type': 'application/json',
            ...headers,
          },
        },
        (response) => {
          response.resume();
          resolve(response.statusCode ?? 0);
        },
      );
      request.once('error', reject);
      request.end(body);
    });
  const text = JSON.stringify(good);
  expect(await post(text, { 'transfer-encoding': 'chunked' })).toBe(200);
  const long = JSON.stringify({ ...good, locale: 'x'.repeat(70_000) });
  expect(await post(long, { 'content-length': String(long.length) })).toBe(413);
});

test('a client that goes away in the middle of its body harms nobody', async () => {
  await new Promise<void>((resolve) => {
    const request = send(`${service.url}/v1/decisions`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${client.publishable}`,
        'content-type': 'application/json',
        'content-length': '1000',
      },
    });
    request.once('error', () => resolve());
    request.write('{"placement":', () => request.destroy(new Error('gone')));
  });
  expect((await client.decide({ placement: 'revive', user_ref: 'next' })).status).toBe(200);
});
