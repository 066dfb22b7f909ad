import { createHmac } from 'node:crypto';
import { Agent, request } from 'undici';

const timeoutMs = 10_000;

/**
 * Delivers webhooks the way a typical job handler would. Signs each request according to Standard Webhooks and uses
 * keep-alive connections. Rejects if the status is not 2xx, so that the queue retries.
 */
export function createDeliverer({ url, secret, connections }) {
  const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64');
  const dispatcher = new Agent({
    connections,
    keepAliveTimeout: 10_000,
    headersTimeout: timeoutMs,
    bodyTimeout: timeoutMs,
  });
  return async (event) => {
    const body = JSON.stringify(event);
    const timestamp = Math.floor(Date.now() / 1_000);
    const mac = createHmac('sha256', key).update(`${event.id}.${timestamp}.${body}`);
    const response = await request(url, {
      method: 'POST',
      dispatcher,
      headers: {
        'content-type': 'application/json',
        'webhook-id': event.id,
        'webhook-timestamp': String(timestamp),
        'webhook-signature': `v1,${mac.digest('base64')}`,
      },
      body,
    });
    await response.body.dump();
    if (response.statusCode < 200 || response.statusCode > 299)
      throw new Error(`The receiver responded with ${response.statusCode}.`);
  };
}
