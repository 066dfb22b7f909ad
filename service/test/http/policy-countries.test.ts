import type { Decision } from '@trueward/protocol/wire';
import { expect, test } from 'vitest';
import { startInProcess } from '../in-process.ts';
import { createClient } from './client.ts';

/** Requests a decision from a page and from a game server, with a country header. Returns both results. */
async function request(env: Record<string, string>) {
  const running = await startInProcess({ RATE_LIMITS: 'off', ...env });
  const { call, publishable, secret } = createClient(running);
  const policy = { name: 'Not in Germany', kind: 'policy', when: { countries: ['DE'] } };
  await call('POST', '/v1/policies', secret, { ...policy, block: { everything: true } });
  const readStatus = async (key: string, country?: string) => {
    const response = await fetch(`${running.url}/v1/decisions`, {
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
  const expected = {
    there: await readStatus(publishable, 'de'),
    elsewhere: await readStatus(publishable, 'FR'),
    unknown: await readStatus(publishable, 'XX'),
    unsaid: await readStatus(publishable),
    server: await readStatus(secret, 'DE'),
  };
  await running.stop();
  return expected;
}
const unblockedStatuses = {
  there: 'filled',
  elsewhere: 'filled',
  unknown: 'filled',
  unsaid: 'filled',
  server: 'filled',
};

test('a policy by country blocks players by the header of the trusted load balancer', async () => {
  const env = { COUNTRY_HEADER: 'CF-IPCountry', TRUSTED_PROXIES: 'loopback' };
  expect(await request(env)).toEqual({ ...unblockedStatuses, there: 'blocked' });
});

test('the country header of an untrusted client is ignored', async () => {
  const env = { COUNTRY_HEADER: 'CF-IPCountry', TRUSTED_PROXIES: '10.0.0.0/8' };
  expect(await request(env)).toEqual(unblockedStatuses);
  expect(await request({})).toEqual(unblockedStatuses);
});

test('COUNTRY_HEADER without TRUSTED_PROXIES is rejected at startup', async () => {
  await expect(startInProcess({ COUNTRY_HEADER: 'CF-IPCountry' })).rejects.toThrow(
    'COUNTRY_HEADER requires TRUSTED_PROXIES',
  );
});
