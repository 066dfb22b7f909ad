import type { ServerResponse } from 'node:http';
import type { Account } from './bank.ts';

/** Server-sent event streams that notify each open page when its player's account changes. */
export interface AccountStreams {
  open(player: string, response: ServerResponse): void;
  publish(player: string): void;
  closeAll(): void;
}

export function createAccountStreams(readAccount: (player: string) => Account): AccountStreams {
  const streams = new Map<ServerResponse, string>();
  const send = (response: ServerResponse, player: string) =>
    response.write(`data: ${JSON.stringify(readAccount(player))}\n\n`);
  return {
    open(player, response) {
      response.writeHead(200, {
        'content-type': 'text/event-stream',
        'cache-control': 'no-store',
      });
      streams.set(response, player);
      response.on('close', () => streams.delete(response));
      response.write('retry: 1000\n\n');
      send(response, player);
    },
    publish(player) {
      for (const [response, streamPlayer] of streams)
        if (streamPlayer === player) send(response, player);
    },
    closeAll() {
      for (const response of streams.keys()) response.end();
    },
  };
}
