import type { Problem } from '@trueward/protocol/wire';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type InProcessService, startInProcess } from '../in-process.ts';
import { type PanelClient, signInOwner } from './panel-client.ts';

// The longest text that each field of the panel's requests accepts, and one that is a character longer.

let running: InProcessService;
let owner: PanelClient;
beforeAll(async () => {
  running = await startInProcess({ RATE_LIMITS: 'off' });
  owner = await signInOwner(running);
});
afterAll(() => running.stop());

const email = 'nobody@example.com';
const password = 'a password that is wrong';
const day = { from: '2026-01-01T00:00:00Z', to: '2026-01-02T00:00:00Z' };
const request = { placement: 'revive' };

/** The text of the field stands in the rest of the request. */
test.each<[route: string, field: string, limit: number, rest: object]>([
  ['POST /panel/api/session', 'password', 200, { email }],
  ['POST /panel/api/session', 'code', 20, { email, password }],
  ['POST /panel/api/session', 'account', 64, { email, password }],
  ['POST /panel/api/session/confirmation', 'password', 200, {}],
  ['POST /panel/api/session/confirmation', 'code', 20, { password }],
  ['GET /panel/api/setup', 'token', 100, {}],
  ['POST /panel/api/setup', 'token', 100, { email, name: 'Nobody', password }],
  ['POST /panel/api/setup', 'name', 200, { token: 'none', email, password }],
  ['POST /panel/api/setup', 'password', 200, { token: 'none', email, name: 'Nobody' }],
  ['POST /panel/api/account/password', 'current', 200, { next: password }],
  ['POST /panel/api/account/password', 'next', 200, { current: password }],
  ['POST /panel/api/account/codes/confirm', 'code', 20, {}],
  ['DELETE /panel/api/account/codes', 'password', 200, {}],
  ['GET /panel/api/decisions', 'player', 128, {}],
  ['GET /panel/api/decisions', 'placement', 64, {}],
  ['POST /panel/api/policies/try', 'policy_id', 64, { request }],
  ['POST /panel/api/policies/try', 'ad_rule_id', 64, { request }],
  ['GET /panel/api/advertisers', 'q', 200, {}],
  ['GET /panel/api/advertisers', 'ids', 6_400, {}],
  ['GET /panel/api/advertisers', 'where', 1_000, {}],
  ['GET /panel/api/advertisers', 'sort', 100, {}],
  ['GET /panel/api/top', 'placement', 64, { ...day, dimension: 'placement', by: 'impressions' }],
  ['POST /panel/api/sources/src_1/try', 'placement', 64, {}],
])('%s accepts a %s of up to %i characters', async (route, field, limit, rest) => {
  const [method = '', path = ''] = route.split(' ');
  const send = async (length: number) => {
    const members = { ...rest, [field]: 'x'.repeat(length) };
    const { body } =
      method === 'GET'
        ? await owner.send<Problem>(
            method,
            `${path}?${new URLSearchParams(members as Record<string, string>)}`,
          )
        : await owner.send<Problem>(method, path, members);
    return (body.errors ?? []).filter(({ message }) => message.startsWith('must have at most'));
  };
  expect(await send(limit)).toEqual([]);
  expect(await send(limit + 1)).toEqual([
    { pointer: `/${field}`, message: `must have at most ${limit} characters` },
  ]);
});
