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
