import { join } from 'node:path';
import { verifyWebhook, WebhookError } from 'trueward/server';
import { openBank } from './bank.js';
import { readConfig } from './config.js';
import { readBody } from './request-body.js';
import { findOrRegisterWebhook } from './webhook-registration.js';

/** Your game's server: sends the game its configuration, credits coins, and returns a player's balance. */
export async function createGameServer(config = readConfig()) {
  const bank = await openBank(join(config.dataDir, 'credits.jsonl'));
  let secret = config.webhookSecret;

  async function receiveWebhook(request, response) {
    // The signature covers the raw body: do not parse it first.
    const body = await readBody(request);
    // The service will retry, and the secret will be available by then.
    if (secret === undefined) return respond(response, 503, { error: 'starting' });
    try {
      const event = await verifyWebhook(body, request.headers, secret);
      // A reward for the player's wallet is credited by the service.
      const isForBank = event.type === 'decision.rewarded' && event.data.reward.credit !== 'wallet';
      if (isForBank) await bank.credit(event.data);
      respond(response, 200, { received: event.id });
    } catch (error) {
      if (!(error instanceof WebhookError)) throw error;
      console.error(error.message);
      respond(response, 400, { error: error.code });
    }
  }

  return {
    /** Handles a request to one of this server's routes. Returns `false` if no route matches. */
    async handle(request, response) {
      const path = new URL(request.url ?? '/', 'http://game').pathname;
      const [, player] = /^\/players\/([\w-]{1,64})$/.exec(path) ?? [];
      if (path === '/webhooks/trueward' && request.method === 'POST') {
        await receiveWebhook(request, response);
      } else if (path === '/config.json') {
        const { publishableKey, serviceUrl } = config;
        respond(response, 200, { publishableKey, serviceUrl });
      } else if (player !== undefined) {
        respond(response, 200, { coins: bank.countCoins(player) });
      } else {
        return false;
      }
      return true;
    },

    /**
     * Registers a webhook endpoint at this URL, unless WEBHOOK_SECRET is set, in which case you have already registered
     * one.
     */
    async receiveWebhooksAt(url) {
      secret ??= await findOrRegisterWebhook(config, `${url}/webhooks/trueward`);
    },
  };
}

function respond(response, status, body) {
  response.writeHead(status, { 'content-type': 'application/json', 'cache-control': 'no-store' });
  response.end(JSON.stringify(body));
}
