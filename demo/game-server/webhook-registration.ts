import { setTimeout as delay } from 'node:timers/promises';
import type { GameServerConfig } from './config.ts';
import type { Journal } from './journal.ts';

/** A webhook that this server registered. The secret is shown once, so it is kept. */
export interface Registration {
  id: string;
  url: string;
  serviceUrl: string;
  secret: string;
}

type ServiceAccess = Pick<GameServerConfig, 'serviceUrl' | 'secretKey'>;

/** How long the service may take to come up, in milliseconds. */
const patienceMs = 30_000;

/**
 * Finds the webhook that was registered at an earlier start, or registers one.
 *
 * @throws Error when the service refuses, or can't be reached for half a minute.
 */
export async function findOrRegisterWebhook(
  access: ServiceAccess,
  url: string,
  journal: Journal<Registration>,
): Promise<Registration> {
  const known = journal.entries.findLast(
    (entry) => entry.url === url && entry.serviceUrl === access.serviceUrl,
  );
  // Not known there any more: the service has begun with new data.
  if (known && (await call(access, `/v1/webhooks/${known.id}`, {})).status !== 404) return known;
  const response = await call(access, '/v1/webhooks', {
    method: 'POST',
    body: JSON.stringify({ url, events: ['decision.rewarded'] }),
  });
  const body = (await response.json()) as { id: string; secret: string; detail?: string };
  if (response.status !== 201) {
    throw new Error(`The service refused the webhook (${response.status}): ${body.detail ?? ''}`);
  }
  const registration = { id: body.id, url, serviceUrl: access.serviceUrl, secret: body.secret };
  await journal.append(registration);
  return registration;
}

async function call(access: ServiceAccess, path: string, init: RequestInit): Promise<Response> {
  const headers = {
    authorization: `Bearer ${access.secretKey}`,
    ...(init.body ? { 'content-type': 'application/json' } : {}),
  };
  for (let waitMs = 100, waitedMs = 0; ; waitedMs += waitMs, waitMs *= 2) {
    try {
      const signal = AbortSignal.timeout(10_000);
      return await fetch(access.serviceUrl + path, { ...init, headers, signal });
    } catch (cause) {
      if (waitedMs >= patienceMs) {
        throw new Error(`The service at ${access.serviceUrl} does not answer.`, { cause });
      }
      await delay(waitMs);
    }
  }
}
