/**
 * Writes `docs/reference/`, the pages that are generated from the code and not committed. `npm run docs` runs this script
 * before it builds the site. `npm run check` runs it if the code has changed since the last run.
 */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { startService } from '../../service/test/start-service.ts';
import { renderCommandLinePage } from './command-line.ts';
import { renderHttpPage } from './http.ts';
import type { OpenApi } from './open-api.ts';
import { writeSdkPages } from './sdk.ts';

const folder = join(import.meta.dirname, '..', 'reference');
rmSync(folder, { recursive: true, force: true });
mkdirSync(folder);

const [document] = await Promise.all([readDocument(), writeSdkPages()]);
writeFileSync(join(folder, 'http.md'), renderHttpPage(document));
writeFileSync(join(folder, 'cli.md'), renderCommandLinePage());

async function readDocument(): Promise<OpenApi> {
  const service = await startService();
  try {
    return (await (await fetch(`${service.url}/openapi.json`)).json()) as OpenApi;
  } finally {
    await service.stop();
  }
}
