import type { Problem } from '@trueward/protocol/wire';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type InProcessService, startInProcess } from '../in-process.ts';
import { type Client, createClient } from './client.ts';

let service: InProcessService;
let client: Client;
beforeAll(async () => {
  service = await startInProcess({ RATE_LIMITS: 'off' });
  client = createClient(service);
});
afterAll(() => service.stop());

/** Creates events like those that an offline device collects: `perAd` events for each ad. */
async function collect(count: number, perAd: number, detail?: string) {
  const ads = await Promise.all(
    Array.from({ length: Math.ceil(count / perAd) }, (_, index) =>
      client.decideImage(`player-${index}`),
    ),
  );
  const overrides = detail === undefined ? {} : { detail };
  return ads
    .flatMap((ad) =>
      Array.from({ length: perAd }, () => client.createEvent(ad, 'midpoint', overrides)),
    )
    .slice(0, count);
}

test('a batch of 500 events returns a result for each event', async () => {
  const events = await collect(500, 20, 'x'.repeat(100));
  const length = JSON.stringify(events).length;
  expect(length).toBeGreaterThan(150_000);
  expect(length).toBeLessThan(256 * 1024);
  const { status, body } = await client.report(...events);
  expect(status).toBe(200);
  expect(body.results).toEqual(events.map(({ id }) => ({ id, status: 'accepted' })));
  const repeatedResponse = await client.report(...events);
  expect(repeatedResponse.body.results.every((result) => result.status === 'duplicate')).toBe(true);
  const oversizedBatch = await client.call<Problem>('POST', '/v1/events', client.publishable, {
    sent_at: new Date().toISOString(),
    events: events.concat(await collect(1, 1)),
  });
  expect([oversizedBatch.status, oversizedBatch.body.code]).toEqual([422, 'invalid_request']);
});

test('an invalid event does not affect the rest of its batch', async () => {
  const events: object[] = await collect(499, 20);
  const invalidEvent = { ...events[0], id: 'bad-event-1', type: 'nonsense' };
  const { body } = await client.report(...events.toSpliced(250, 0, invalidEvent));
  const rejectedResults = body.results.filter(({ status }) => status !== 'accepted');
  expect(rejectedResults).toEqual([
    { id: 'bad-event-1', status: 'rejected', code: 'invalid_event' },
  ]);
});

test('the body limit is 256 KiB for event batches and 64 KiB for other requests', async () => {
  const post = async (path: string, bytes: number) => {
    const body = `"${'x'.repeat(bytes - 2)}"`;
    const problem = await client.call<Problem>('POST', path, client.publishable, body);
    return [problem.status, problem.body.code];
  };
  for (const [path, kib] of [
    ['/v1/events', 256],
    ['/v1/decisions', 64],
  ] as const) {
    expect(await post(path, kib * 1_024)).toEqual([422, 'invalid_request']);
    expect(await post(path, kib * 1_024 + 1)).toEqual([413, 'body_too_large']);
  }
});
