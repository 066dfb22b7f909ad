import type { Decision, Policy } from '@trueward/protocol/wire';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type InProcessService, startInProcess } from '../in-process.ts';
import { type Client, createClient } from './client.ts';

let runningService: InProcessService;
let client: Client;
beforeAll(async () => {
  runningService = await startInProcess({ RATE_LIMITS: 'off' });
  client = createClient(runningService);
});
afterAll(() => runningService.stop());

test('a segment policy blocks only players in the segment', async () => {
  const { body: policy } = await client.call<Policy>('POST', '/v1/policies', client.secret, {
    name: 'Let newcomers play',
    kind: 'policy',
    when: { segments: ['newcomer'] },
    block: { everything: true },
  });
  const request = async (segments?: string[]) =>
    client.call<Decision>('POST', '/v1/decisions', client.publishable, {
      placement: 'revive',
      user_ref: 'player-1',
      ...(segments ? { segments } : {}),
    });
  expect(policy.when).toEqual({ segments: ['newcomer'] });
  expect((await request()).body.status).toBe('filled');
  expect((await request(['payer'])).body.status).toBe('filled');
  expect((await request(['payer', 'newcomer'])).body).toMatchObject({
    status: 'blocked',
    reason: 'policy',
  });
  expect((await request(['newcomer', 'newcomer'])).status).toBe(422);
});

const everything = { kind: 'policy', block: { everything: true } };

test.each([
  [['kids'], 'kids'],
  [[' kids '], 'kids'],
  [['kids'], ' kids\u202e'],
  [['caf\u00e9'], 'cafe\u0301'],
])('a policy for %j applies to the segment %j', async (segments, segment) => {
  const { id } = await client.manage<Policy>('POST', '/v1/policies', {
    name: 'Children',
    when: { segments },
    ...everything,
  });
  const player = { placement: 'revive', user_ref: 'player-2' };
  const { body } = await client.decide({ ...player, segments: [segment] });
  await client.manage('DELETE', `/v1/policies/${id}`);
  expect(body.status).toBe('blocked');
});

test.each(['countries', 'languages', 'devices', 'hours', 'segments'])(
  'an empty list of %s is no condition',
  async (member) => {
    const { id } = await client.manage<Policy>('POST', '/v1/policies', {
      name: 'Everybody',
      when: { [member]: [] },
      ...everything,
    });
    const { body } = await client.decide({ placement: 'revive', user_ref: 'player-3' });
    await client.manage('DELETE', `/v1/policies/${id}`);
    expect(body.status).toBe('blocked');
  },
);
