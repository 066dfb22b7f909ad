import { request as openRequest } from 'node:http';
import { text } from 'node:stream/consumers';
import type { ApiKey } from '@trueward/protocol/wire';
import { expect, onTestFinished, test } from 'vitest';
import { createClient } from './client.ts';
import type { PanelClient } from './panel-client.ts';
import { PanelSetup } from './panel-setup.ts';

// A request is authenticated when its headers arrive. Whoever keeps requests open must not be able to finish them with
// rights that have been taken away.

const setup = new PanelSetup();
const newKey = JSON.stringify({ kind: 'secret', name: 'kept' });

/** Sends the headers and half of the body. Resolves when the service has authenticated the request. */
async function hold(headers: Record<string, string>) {
  const { url } = setup.runningService;
  const held = openRequest(`${url}/v1/keys`, {
    method: 'POST',
    headers: {
      ...headers,
      'content-type': 'application/json',
      'content-length': newKey.length,
      // The service asks for the body when it has accepted the headers.
      expect: '100-continue',
    },
  });
  onTestFinished(() => void held.destroy());
  const response = new Promise<[status: number | undefined, code: string | undefined]>(
    (resolve, reject) => {
      held.once('error', reject).once('response', (incoming) => {
        void text(incoming).then((body) =>
          resolve([incoming.statusCode, (JSON.parse(body) as { code?: string }).code]),
        );
      });
    },
  );
  const accepted = new Promise((resolve) => held.once('continue', resolve));
  held.flushHeaders();
  await accepted;
  return {
    finish() {
      held.end(newKey);
      return response;
    },
  };
}

const inSession = (browser: PanelClient) => ({
  cookie: browser.cookie() ?? '',
  origin: setup.runningService.url,
  'trueward-csrf': browser.csrf(),
  'trueward-environment': 'sandbox',
});

interface Loss {
  headers: Record<string, string>;
  /** Takes the request's rights away. */
  lose(): unknown;
}

async function makeKey(): Promise<{ id: string; headers: Record<string, string> }> {
  const { manage } = createClient(setup.runningService);
  const { id, key } = await manage<ApiKey>('POST', '/v1/keys', { kind: 'secret' });
  return { id, headers: { authorization: `Bearer ${key}` } };
}
const rollKey = (id: string, overlapS: number) =>
  createClient(setup.runningService).manage('POST', `/v1/keys/${id}/roll`, { overlap_s: overlapS });

type Row = [name: string, status: number, code: string, make: () => Promise<Loss>];
const losses: Row[] = [
  [
    'the key is revoked',
    401,
    'key_revoked',
    async () => {
      const { id, headers } = await makeKey();
      const { manage } = createClient(setup.runningService);
      return { headers, lose: () => manage('DELETE', `/v1/keys/${id}`) };
    },
  ],
  [
    'the key is rolled',
    401,
    'key_revoked',
    async () => {
      const { id, headers } = await makeKey();
      return { headers, lose: () => rollKey(id, 0) };
    },
  ],
  [
    'the overlap of a rolled key ends',
    401,
    'key_revoked',
    async () => {
      const { id, headers } = await makeKey();
      await rollKey(id, 60);
      return { headers, lose: () => setup.clock.advance(60_000) };
    },
  ],
  [
    'the user signs out',
    401,
    'authentication_required',
    async () => {
      const user = await setup.signInAs('owner');
      return { headers: inSession(user), lose: () => user.send('DELETE', '/panel/api/session') };
    },
  ],
  [
    'the user’s role is lowered',
    403,
    'role_not_permitted',
    async () => {
      const user = await setup.signInAs('owner');
      const path = `/panel/api/users/${user.id}`;
      return {
        headers: inSession(user),
        lose: () => setup.owner.send('PATCH', path, { role: 'operator' }),
      };
    },
  ],
  [
    'the user is removed',
    401,
    'authentication_required',
    async () => {
      const user = await setup.signInAs('owner');
      return {
        headers: inSession(user),
        lose: () => setup.owner.send('DELETE', `/panel/api/users/${user.id}`),
      };
    },
  ],
];

test.each(losses)('a held request changes nothing after %s', async (_, status, code, make) => {
  const { headers, lose } = await make();
  const [held, control] = [await hold(headers), await hold(headers)];
  expect(await control.finish()).toEqual([201, undefined]);
  await lose();
  expect(await held.finish()).toEqual([status, code]);
});
