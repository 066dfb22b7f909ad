import { existsSync } from 'node:fs';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/**
 * Returns the webhook secret for this URL. Reuses the webhook that an earlier run registered, if the service still has
 * it. Otherwise, registers a new one. The service returns the secret only once, so it is stored.
 */
export async function findOrRegisterWebhook({ dataDir, secretKey, serviceUrl }, url) {
  const file = join(dataDir, 'webhook.json');
  const savedRegistration = existsSync(file) ? JSON.parse(await readFile(file, 'utf8')) : {};
  const call = (path, body) => request(serviceUrl, secretKey, path, body);
  if (savedRegistration.url === url && savedRegistration.serviceUrl === serviceUrl) {
    const response = await call(`/v1/webhooks/${savedRegistration.id}`);
    if (response.ok) return savedRegistration.secret;
  }
  const response = await call('/v1/webhooks', { url, events: ['decision.rewarded'] });
  const { detail, id, secret } = await response.json();
  if (!response.ok) throw new Error(`The ad service rejected the webhook: ${detail}`);
  await mkdir(dataDir, { recursive: true });
  const registration = { id, url, serviceUrl, secret };
  await writeFile(file, JSON.stringify(registration), { mode: 0o600 });
  return secret;
}

async function request(serviceUrl, secretKey, path, body) {
  const headers = { authorization: `Bearer ${secretKey}`, 'content-type': 'application/json' };
  const method = body === undefined ? 'GET' : 'POST';
  try {
    return await fetch(serviceUrl + path, { method, headers, body: JSON.stringify(body) });
  } catch (cause) {
    throw new Error(`The ad service at ${serviceUrl} is not responding. Is it running?`, { cause });
  }
}
