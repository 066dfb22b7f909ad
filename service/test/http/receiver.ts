import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface ReceivedRequest {
  body: string;
  headers: Record<string, string>;
}

/** Starts a webhook receiver. `respond` gets the request's index and returns the response status. */
export async function startReceiver(
  respond: (index: number) => number | Promise<number> = () => 200,
  responseHeaders: Readonly<Record<string, string>> = {},
) {
  const requests: ReceivedRequest[] = [];
  let notifyWaiter: () => void = () => undefined;
  const server = createServer((request, response) => {
    let body = '';
    const finish = (status: number): void => {
      requests.push({ body, headers: request.headers as Record<string, string> });
      response
        .writeHead(status, {
          ...responseHeaders,
          ...(status >= 300 && status < 400 ? { location: '/elsewhere' } : {}),
        })
        .end('received');
      notifyWaiter();
    };
    request.on('data', (chunk: Buffer) => (body += chunk.toString()));
    request.on('end', () => {
      const status = respond(requests.length);
      if (typeof status === 'number') finish(status);
      else void status.then(finish);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/webhooks`,
    requests,
    /** Resolves with all received requests once there are at least this many. */
    async waitForRequests(requestCount: number): Promise<ReceivedRequest[]> {
      while (requests.length < requestCount)
        await new Promise<void>((resolve) => (notifyWaiter = resolve));
      return requests;
    },
    close: () =>
      new Promise<void>((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
}
