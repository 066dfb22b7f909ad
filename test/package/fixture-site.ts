import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { extname, join } from 'node:path';
import { startInProcess } from '../../service/test/in-process.ts';
import { createDemand } from '../../service/test/demo-demand.ts';

/** A web server for the built fixtures, and a service with an image ad for the fixtures' placement. */
export interface FixtureSite {
  /** The query string of each fixture's URL. */
  query: string;
  /** Returns the URL of a page in the project. */
  createUrl(path: string): string;
  stop(): Promise<void>;
}

const root = join(import.meta.dirname, '..', '..');
const types: Record<string, string> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript',
};

/** Serves `project`, including its `node_modules`. */
export async function startFixtureSite(project: string): Promise<FixtureSite> {
  const service = await startInProcess({
    TRUEWARD_MEDIA_DIR: join(root, 'demo/creatives/dist'),
  });
  await createDemand(service).addPlacement('Harbour', {
    name: 'fixture',
    format: 'interstitial',
    min_view_ms: 1_000,
  });
  const pages = createServer(({ url = '/' }, response) => {
    const { pathname } = new URL(url, 'http://page');
    readFile(join(project, pathname)).then(
      (body) => {
        response.setHeader('content-type', types[extname(pathname)] ?? 'text/plain');
        response.end(body);
      },
      () => response.writeHead(404).end(),
    );
  });
  await new Promise<void>((resolve) => pages.listen(0, '127.0.0.1', resolve));
  const { port } = pages.address() as AddressInfo;
  const query = String(
    new URLSearchParams({ key: service.keys.sandbox.publishable, service: service.url }),
  );
  return {
    query,
    createUrl: (path) => `http://127.0.0.1:${port}/${path}?${query}`,
    async stop() {
      pages.closeAllConnections();
      await Promise.all([
        service.stop(),
        new Promise((resolve) => {
          pages.close(resolve);
        }),
      ]);
    },
  };
}
