import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A local server for media files. The test sets its responses. */
export interface MediaOrigin {
  /** The base URL, `http://127.0.0.1:…`. */
  url: string;
  /** The paths of all requests so far. */
  requests: string[];
  /** Sets the response for a path. */
  serve(path: string, response: Buffer | string | RequestListener): void;
  stop(): Promise<void>;
}

export async function startMediaOrigin(): Promise<MediaOrigin> {
  const responses = new Map<string, Buffer | string | RequestListener>();
  const requests: string[] = [];
  const server = createServer((request, response) => {
    const path = (request.url ?? '').split('?')[0] ?? '';
    requests.push(path);
    const respond = responses.get(path);
    if (typeof respond === 'function') return respond(request, response);
    response.statusCode = respond === undefined ? 404 : 200;
    response.end(respond);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    serve: (path, response) => void responses.set(path, response),
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
