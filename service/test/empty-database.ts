import { cpSync, existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import service from '../package.json' with { type: 'json' };
import { initialise } from '../src/store/pglite/initialise.ts';

const cache = fileURLToPath(new URL('../../node_modules/.cache/trueward/', import.meta.url));
const template = join(cache, `database-${service.dependencies['@electric-sql/pglite']}`);

/** Puts a new cluster into `directory`, unless there is one. Making one takes seconds, so a copy is kept. */
export async function copyEmptyDatabase(directory: string): Promise<void> {
  if (existsSync(directory)) return;
  if (!existsSync(template)) await makeTemplate();
  mkdirSync(dirname(directory), { recursive: true });
  cpSync(template, directory, { recursive: true });
}

async function makeTemplate(): Promise<void> {
  mkdirSync(cache, { recursive: true });
  const folder = mkdtempSync(join(cache, 'draft-'));
  try {
    await initialise(join(folder, 'database'));
    renameSync(join(folder, 'database'), template);
  } catch (error) {
    // Another test file was faster: its template is as good.
    if (!existsSync(template)) throw error;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
