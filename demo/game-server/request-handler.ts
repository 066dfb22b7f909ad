import type { IncomingMessage, ServerResponse } from 'node:http';
import { verifyWebhook, WebhookError } from 'trueward/server';
import type { AccountStreams } from './account-streams.ts';
import type { Bank } from './bank.ts';
import { serveExample } from './example-page.ts';
import { readBody } from './request-body.ts';
import { serveFile } from './static-files.ts';

export interface RequestHandlerDeps {
  bank: Bank;
  streams: AccountStreams;
  /** The folder that contains the built game. */
  gameDir: string;
  /** The configuration that the game loads at startup. */
  gameConfig: () => { serviceUrl: string; publishableKey: string; gameServerUrl: string };
  /** `undefined` until the webhook is registered. */
  webhookSecret: () => string | undefined;
  demoOrigin?: string;
}

/** Handles every route of the game server. */
export function createRequestHandler(deps: RequestHandlerDeps) {
  return async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const path = new URL(request.url ?? '/', 'http://game').pathname;
    if (deps.demoOrigin && request.headers.origin === deps.demoOrigin) {
      response.setHeader('access-control-allow-origin', deps.demoOrigin);
    }
    response.setHeader('vary', 'origin');
    if (request.method === 'POST' && path === '/webhooks/trueward') {
      return receiveWebhook(deps, request, response);
    }
    if (request.method !== 'GET') return respond(response, 405, { error: 'method_not_allowed' });
    if (path === '/config.json') return respond(response, 200, deps.gameConfig());
    const [, player, stream] = /^\/players\/([\w-]{1,64})(\/events)?$/.exec(path) ?? [];
    if (player && stream) return deps.streams.open(player, response);
    if (player) return respond(response, 200, deps.bank.account(player));
    const wasServed =
      serveExample(deps.gameDir, path, deps.gameConfig(), response) ||
      serveFile(deps.gameDir, path, response);
    if (!wasServed) respond(response, 404, { error: 'not_found' });
  };
}

async function receiveWebhook(
  { bank, webhookSecret }: RequestHandlerDeps,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const body = await readBody(request);
  if (!body) return respond(response, 413, { error: 'body_too_large' });
  const secret = webhookSecret();
  // The service will retry, and the secret will be available by then.
  if (!secret) return respond(response, 503, { error: 'starting' });
  try {
    const event = await verifyWebhook(body, request.headers, secret);
    // What the service keeps in the player's wallet is not for this server to credit.
    const isForBank = event.type === 'decision.rewarded' && event.data.reward.credit !== 'wallet';
    const result = isForBank ? await bank.credit(event) : 'not_used';
    respond(response, 200, { result });
  } catch (error) {
    if (!(error instanceof WebhookError)) throw error;
    console.error(error.message);
    respond(response, 400, { error: error.code });
  }
}

function respond(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'content-type': 'application/json', 'cache-control': 'no-store' });
  response.end(JSON.stringify(body));
}
