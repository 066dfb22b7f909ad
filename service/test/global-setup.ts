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

/** Sets up what all test files of a run share: a PostgreSQL server, and a folder that is removed at the end. */
export default async function setUp(project: TestProject): Promise<() => Promise<void>> {
  const folder = mkdtempSync(join(tmpdir(), 'trueward-run-'));
  process.env['TRUEWARD_TEST_FOLDER'] = folder;
  // It is never killed: crash tests start their own server.
  // `npm run test:database` names one; otherwise this run has its own.
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
