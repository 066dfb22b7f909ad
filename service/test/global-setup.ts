import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { startPrivatePostgres } from './private-postgres.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** Of the PostgreSQL server of this run; undefined where the machine has none. */
    postgresUrl: string | undefined;
  }
}

/** Makes what all test files of a run share: one PostgreSQL server, and a folder that is removed at the end. */
export default async function setUp(project: TestProject): Promise<() => Promise<void>> {
  const folder = mkdtempSync(join(tmpdir(), 'trueward-run-'));
  process.env['TRUEWARD_TEST_FOLDER'] = folder;
  // Nobody pulls its plug; what tests that goes to a server of its own.
  const postgres = await startPrivatePostgres({ settings: ['fsync=off', 'max_connections=200'] });
  project.provide('postgresUrl', postgres?.url);
  return async () => {
    await postgres?.stop();
    rmSync(folder, { recursive: true, force: true });
  };
}
