import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { startPrivatePostgres } from './private-postgres.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** URL of this run's PostgreSQL server; undefined if PostgreSQL is not installed. */
    postgresUrl: string | undefined;
    full: boolean;
  }
}

/** Sets up the resources that a test run shares: a PostgreSQL server, and a folder that is deleted at the end. */
export default async function setUp(project: TestProject): Promise<() => Promise<void>> {
  const folder = mkdtempSync(join(tmpdir(), 'trueward-run-'));
  process.env['TRUEWARD_TEST_FOLDER'] = folder;
  // `npm run test:database` sets this variable to an existing server's URL. Other runs start one server that all tests
  // share. Tests that kill PostgreSQL start their own server.
  const serverUrl = process.env['TRUEWARD_TEST_SERVER'];
  const postgres =
    serverUrl === undefined
      ? await startPrivatePostgres({ settings: ['fsync=off', 'max_connections=200'] })
      : undefined;
  project.provide('postgresUrl', serverUrl ?? postgres?.url);
  return async () => {
    await postgres?.stop();
    rmSync(folder, { recursive: true, force: true });
  };
}
