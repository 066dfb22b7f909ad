import { request as send } from 'node:http';
import type { Problem } from '@trueward/protocol/wire';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type InProcessService, startInProcess } from '../in-process.ts';
import { type Client, createClient } from './client.ts';

let service: InProcessService;
let client: Client;
beforeAll(async () => {
  service = await startInProcess();
  client = createClient(service);
});
afterAll(() => service.stop());

const validRequest = { placement: 'revive', user_ref: 'u', formats: ['image'] };
/**
 * The most deeply nested body within the size limit. Its escaped NUL makes the service scan the whole body for
 * characters that the database cannot store.
 */
const deepBody = `${'['.repeat(32_000)}"\\u0000"${']'.repeat(32_000)}`;

test('every route rejects deeply nested bodies', async () => {
  const placement = `{"name":"deep","format":"rewarded","more":${deepBody}}`;
  for (const [path, key, body] of [
    ['/v1/decisions', client.publishable, deepBody],
    ['/v1/events', client.publishable, deepBody],
    ['/v1/placements', client.secret, placement],
    ['/v1/placements', client.secret, '{"a":'.repeat(33) + '1' + '}'.repeat(33)],
  ] as const) {
    const response = await client.call<Problem>('POST', path, key, body);
    expect([response.status, response.body.code]).toEqual([422, 'invalid_request']);
    expect(response.body.detail).toContain('32 levels');
  }
  const deepest = '{"a":'.repeat(32) + '1' + '}'.repeat(32);
  const { body } = await client.call<Problem>('POST', '/v1/placements', client.secret, deepest);
  expect([body.code, body.detail.includes('levels')]).toEqual(['invalid_request', false]);
});

test('a body without Content-Length is accepted up to the size limit', async () => {
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
  const text = JSON.stringify(validRequest);
  expect(await post(text, { 'transfer-encoding': 'chunked' })).toBe(200);
  const longBody = JSON.stringify({ ...validRequest, locale: 'x'.repeat(70_000) });
  expect(await post(longBody, { 'content-length': String(longBody.length) })).toBe(413);
});

test('a client that disconnects while sending its body does not affect other clients', async () => {
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
