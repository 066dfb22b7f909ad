import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface ReceivedRequest {
  body: string;
  headers: Record<string, string>;
}

/** Starts a webhook receiver. `respond` gets the index of a request and returns the status to respond with. */
export async function startReceiver(
  respond: (index: number) => number = () => 200,
  responseHeaders: Readonly<Record<string, string>> = {},
) {
  const received: ReceivedRequest[] = [];
  let notifyWaiter: () => void = () => undefined;
  const server = createServer((request, response) => {
    let body = '';
    request.on('data', (chunk: Buffer) => (body += chunk.toString()));
    request.on('end', () => {
      const status = respond(received.length);
      received.push({ body, headers: request.headers as Record<string, string> });
      response
        .writeHead(status, {
          ...responseHeaders,
          ...(status >= 300 && status < 400 ? { location: '/elsewhere' } : {}),
        })
        .end('received');
      notifyWaiter();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/webhooks`,
    received,
    /** Resolves with all received requests once there are at least this many. */
    async waitForRequests(requestCount: number): Promise<ReceivedRequest[]> {
      while (received.length < requestCount)
        await new Promise<void>((resolve) => (notifyWaiter = resolve));
      return received;
    },
    close: () =>
      new Promise<void>((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
}
