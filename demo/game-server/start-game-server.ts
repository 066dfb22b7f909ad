import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { createAccountStreams } from './account-streams.ts';
import { createBank, type Credit } from './bank.ts';
import type { GameServerConfig } from './config.ts';
import { openJournal } from './journal.ts';
import { createRequestHandler } from './request-handler.ts';
import { findOrRegisterWebhook, type Registration } from './webhook-registration.ts';

/** A running game server. */
export interface GameServer {
  url: string;
  close(): Promise<void>;
}

/** Starts the server and registers its webhook with the service. Resolves once webhooks can be delivered. */
export async function startGameServer(
  config: GameServerConfig,
  gameDir: string,
): Promise<GameServer> {
  const credits = await openJournal<Credit>(join(config.dataDir, 'credits.jsonl'));
  const registrations = await openJournal<Registration>(join(config.dataDir, 'webhooks.jsonl'));
  const bank = createBank({
    journal: credits,
    now: () => new Date(),
    onCredit: (player) => streams.publish(player),
  });
  const streams = createAccountStreams((player) => bank.account(player));
  let url = '';
  let secret: string | undefined;
  const handle = createRequestHandler({
    bank,
    streams,
    gameDir,
    gameConfig: () => ({
      serviceUrl: config.serviceUrl,
      publishableKey: config.publishableKey,
      gameServerUrl: url,
    }),
    webhookSecret: () => secret,
    ...(config.demoOrigin ? { demoOrigin: config.demoOrigin } : {}),
  });
  const server = createServer((request, response) => {
    handle(request, response).catch((error: unknown) => {
      console.error(error);
      if (!response.headersSent) response.writeHead(500);
      response.end();
    });
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen(config.port, '127.0.0.1', resolve);
  });
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const close = async () => {
    streams.closeAll();
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
    await Promise.all([credits.close(), registrations.close()]);
  };
  try {
    const webhookUrl = `${url}/webhooks/trueward`;
    ({ secret } = await findOrRegisterWebhook(config, webhookUrl, registrations));
  } catch (error) {
    await close();
    throw error;
  }
  return { url, close };
}
