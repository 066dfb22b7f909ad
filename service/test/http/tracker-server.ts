import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface TrackerCall {
  /** The path including the query string. */
  path: string;
  headers: IncomingHttpHeaders;
}

/** Starts a tracker server. `respond` handles the requests; by default, it sends empty 200 responses. */
export async function startTrackerServer(
  respond: (path: string, response: ServerResponse, call: number) => void = (_path, response) =>
    void response.end(),
  port = 0,
) {
  const calls: TrackerCall[] = [];
  const server = createServer(({ url = '', headers }, response) => {
    calls.push({ path: url, headers });
    respond(url, response, calls.length - 1);
  });
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  const listeningPort = (server.address() as AddressInfo).port;
  return {
    url: `http://127.0.0.1:${listeningPort}`,
    port: listeningPort,
    calls,
    paths: () => calls.map(({ path }) => path),
    close: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

export type TrackerServer = Awaited<ReturnType<typeof startTrackerServer>>;
