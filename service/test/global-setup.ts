import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { migrate } from '../src/store/migrate.ts';
import { openPostgres } from '../src/store/postgres.ts';
import { createDatabaseOn } from './create-database.ts';
import { prepareTemplates } from './empty-database.ts';
import { plantNeighbor } from './neighbor.ts';
import { startPrivatePostgres } from './private-postgres.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** URL of this run's PostgreSQL server; undefined if PostgreSQL is not installed. */
    postgresUrl: string | undefined;
    /** A migrated database on that server that contains only the neighbor. Undefined on a given server. */
    postgresTemplate: string | undefined;
    full: boolean;
  }
}

/** Sets up the resources that a test run shares: a PostgreSQL server, and a folder that is deleted at the end. */
export default async function setUp(project: TestProject): Promise<() => Promise<void>> {
  const folder = mkdtempSync(join(tmpdir(), 'trueward-run-'));
  process.env['TRUEWARD_TEST_FOLDER'] = folder;
  await prepareTemplates();
  // `npm run test:database` sets this variable to an existing server's URL. Other runs start one server that all tests
  // share. Tests that kill PostgreSQL start their own server.
  const serverUrl = process.env['TRUEWARD_TEST_SERVER'];
  const postgres =
    serverUrl === undefined
      ? await startPrivatePostgres({ settings: ['fsync=off', 'max_connections=200'] })
      : undefined;
  project.provide('postgresUrl', serverUrl ?? postgres?.url);
  project.provide('postgresTemplate', postgres && (await createTemplate(postgres.url)));
  return async () => {
    await postgres?.stop();
    rmSync(folder, { recursive: true, force: true });
  };
}

async function createTemplate(server: string): Promise<string> {
  const name = 'neighbor';
  const database = openPostgres(await createDatabaseOn(server, name), () => undefined);
  try {
    await migrate(database);
    await plantNeighbor(database);
  } finally {
    await database.close();
  }
  return name;
}
