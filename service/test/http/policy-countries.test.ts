import type { Decision } from '@trueward/protocol/wire';
import { afterAll, expect, test } from 'vitest';
import { type InProcessService, startInProcess } from '../in-process.ts';
import { createClient } from './client.ts';

let running: InProcessService | undefined;
afterAll(() => running?.stop());

/** Requests decisions with various country headers, from a page and from a game server. Returns their statuses. */
async function requestStatuses(env: Record<string, string>) {
  const runningService = await startInProcess({ RATE_LIMITS: 'off', ...env });
  const { call, publishable, secret } = createClient(runningService);
  const policy = { name: 'Not in Germany', kind: 'policy', when: { countries: ['DE'] } };
  await call('POST', '/v1/policies', secret, { ...policy, block: { everything: true } });
  const readStatus = async (key: string, country?: string) => {
    const response = await fetch(`${runningService.url}/v1/decisions`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${key}`,
        'content-type': 'application/json',
        ...(country === undefined ? {} : { 'cf-ipcountry': country }),
      },
      body: JSON.stringify({ placement: 'revive', user_ref: 'player-1' }),
    });
    return ((await response.json()) as Decision).status;
  };
  const statuses = {
    listedCountry: await readStatus(publishable, 'de'),
    otherCountry: await readStatus(publishable, 'FR'),
    unknownCountry: await readStatus(publishable, 'XX'),
    afterOwnClaim: await readStatus(publishable, 'FR, DE'),
    afterOtherClaim: await readStatus(publishable, 'DE,XX, FR'),
    withoutHeader: await readStatus(publishable),
    fromServer: await readStatus(secret, 'DE'),
  };
  await runningService.stop();
  return statuses;
}
const unblockedStatuses = {
  listedCountry: 'filled',
  otherCountry: 'filled',
  unknownCountry: 'filled',
  afterOwnClaim: 'filled',
  afterOtherClaim: 'filled',
  withoutHeader: 'filled',
  fromServer: 'filled',
};

test('a country policy uses the header from a trusted load balancer', async () => {
  const env = { COUNTRY_HEADER: 'CF-IPCountry', TRUSTED_PROXIES: 'loopback' };
  expect(await requestStatuses(env)).toEqual({
    ...unblockedStatuses,
    listedCountry: 'blocked',
    // The proxy has added its header to the client's own.
    afterOwnClaim: 'blocked',
  });
});

test('a country header from an untrusted client is ignored', async () => {
  const env = { COUNTRY_HEADER: 'CF-IPCountry', TRUSTED_PROXIES: '10.0.0.0/8' };
  expect(await requestStatuses(env)).toEqual(unblockedStatuses);
  expect(await requestStatuses({})).toEqual(unblockedStatuses);
});

test.each([
  ['GB', 'blocked'],
  ['UK', 'blocked'],
  ['EL', 'blocked'],
  ['FR', 'filled'],
  ['XX', 'filled'],
])('a country policy applies to the country that a server sends: %s', async (country, status) => {
  running ??= await startInProcess({ RATE_LIMITS: 'off' });
  const { call, manage, secret } = createClient(running);
  const rule = { name: 'Neither', kind: 'policy', block: { everything: true } };
  const { id } = await manage<{ id: string }>('POST', '/v1/policies', {
    ...rule,
    when: { countries: ['uk', 'GR'] },
  });
  const { body } = await call<Decision>('POST', '/v1/decisions', secret, {
    placement: 'revive',
    user_ref: `player in ${country}`,
    device: { country },
  });
  await manage('DELETE', `/v1/policies/${id}`);
  expect(body.status).toBe(status);
});

test('startup fails if COUNTRY_HEADER is set without TRUSTED_PROXIES', async () => {
  await expect(startInProcess({ COUNTRY_HEADER: 'CF-IPCountry' })).rejects.toThrow(
    'COUNTRY_HEADER requires TRUSTED_PROXIES',
  );
});
