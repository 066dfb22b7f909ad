import { setTimeout as delay } from 'node:timers/promises';
import type { GameServerConfig } from './config.ts';
import type { Journal } from './journal.ts';

/** A webhook that this server registered. The service returns the secret only once, so the server stores it. */
export interface Registration {
  id: string;
  url: string;
  serviceUrl: string;
  secret: string;
}

type ServiceAccess = Pick<GameServerConfig, 'serviceUrl' | 'secretKey'>;

/** How long to wait for the service to start, in milliseconds. */
const startTimeoutMs = 30_000;

/**
 * Returns the webhook that an earlier run registered, or registers a new one.
 *
 * @throws Error if the service rejects the webhook, or is still unreachable after 30 seconds.
 */
export async function findOrRegisterWebhook(
  access: ServiceAccess,
  url: string,
  journal: Journal<Registration>,
): Promise<Registration> {
  const existingRegistration = journal.entries.findLast(
    (entry) => entry.url === url && entry.serviceUrl === access.serviceUrl,
  );
  // If the service was restarted with an empty database, it no longer has the webhook.
  if (
    existingRegistration &&
    (await call(access, `/v1/webhooks/${existingRegistration.id}`, {})).status !== 404
  )
    return existingRegistration;
  const response = await call(access, '/v1/webhooks', {
    method: 'POST',
    body: JSON.stringify({ url, events: ['decision.rewarded'] }),
  });
  const body = (await response.json()) as { id: string; secret: string; detail?: string };
  if (response.status !== 201) {
    throw new Error(`The service rejected the webhook (${response.status}): ${body.detail ?? ''}`);
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
      if (waitedMs >= startTimeoutMs) {
        throw new Error(`The service at ${access.serviceUrl} is not responding.`, { cause });
      }
      await delay(waitMs);
    }
  }
}
