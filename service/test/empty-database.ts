import { createHash } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { copyFolder } from '../../scripts/lib/copy-folder.mjs';
import service from '../package.json' with { type: 'json' };
import type { Database } from '../src/store/database.ts';
import { emptyTables, findNeighborChanges, plantNeighbor, watchNeighbor } from './neighbor.ts';
import { migrate } from '../src/store/migrate.ts';
import { createPartitions } from '../src/store/partitions.ts';
import { DatabaseError } from '../src/store/pglite/database-thread.ts';
import { initializeCluster, openPGlite } from '../src/store/pglite/open-pglite.ts';

const cache = fileURLToPath(new URL('../../node_modules/.cache/trueward/', import.meta.url));

/**
 * Copies an embedded database without tables into `directory` if the directory does not exist. Creating one from
 * scratch would take several seconds.
 */
export const copyEmptyDatabase = (directory: string): Promise<void> =>
  copyTemplate(
    `empty-${service.dependencies['@electric-sql/pglite']}`,
    directory,
    initializeCluster,
  );

/**
 * Copies a database with empty tables into `directory` if the directory does not exist. It has no neighbor, because
 * these databases are opened by other processes, and opening each one again to check it would take 2 s of CPU time.
 */
export async function copyMigratedDatabase(directory: string): Promise<void> {
  await copyTemplate(`migrated-${templateVersion()}`, directory, async (draft) => {
    await copyEmptyDatabase(draft);
    const database = await openPGlite(draft, () => undefined);
    await migrate(database);
    await createPartitions(database, Date.now());
    await database.close();
  });
}

/** Copies a database with only the neighbor's rows into `directory`. */
const copyDatabaseWithNeighbor = (directory: string): Promise<void> =>
  copyTemplate(neighborTemplate(), directory, createDatabaseWithNeighbor);

/** Creates the templates for embedded databases, so that the first test doesn't have to wait for that. */
export async function prepareTemplates(): Promise<void> {
  const template = join(cache, neighborTemplate());
  if (!existsSync(template)) await createTemplate(template, createDatabaseWithNeighbor);
}

async function createDatabaseWithNeighbor(directory: string): Promise<void> {
  await copyMigratedDatabase(directory);
  const database = await openPGlite(directory, () => undefined);
  await plantNeighbor(database);
  await database.close();
}

function neighborTemplate(): string {
  const hash = createHash('sha256');
  for (const file of ['neighbor.ts', 'tenant-rows.ts'])
    hash.update(readFileSync(new URL(file, import.meta.url)));
  return `neighbor-${templateVersion()}-${hash.digest('hex').slice(0, 12)}`;
}

/** Returns a version that changes with the schema and once a week, because each week has its own partitions. */
function templateVersion(): string {
  const migrations = new URL('../src/store/migrations/', import.meta.url);
  const hash = createHash('sha256').update(service.dependencies['@electric-sql/pglite']);
  for (const file of readdirSync(migrations, { recursive: true, encoding: 'utf8' }).toSorted())
    if (file.endsWith('.ts')) hash.update(readFileSync(new URL(file, migrations)));
  hash.update(String(Math.floor(Date.now() / (7 * 86_400_000))));
  return hash.digest('hex').slice(0, 12);
}

async function copyTemplate(
  name: string,
  directory: string,
  create: (directory: string) => Promise<void>,
): Promise<void> {
  if (existsSync(directory)) return;
  const template = join(cache, name);
  if (!existsSync(template)) await createTemplate(template, create);
  mkdirSync(dirname(directory), { recursive: true });
  copyFolder(template, directory);
}

async function createTemplate(
  template: string,
  create: (directory: string) => Promise<void>,
): Promise<void> {
  mkdirSync(cache, { recursive: true });
  const folder = mkdtempSync(join(cache, 'draft-'));
  try {
    await create(join(folder, 'database'));
    renameSync(join(folder, 'database'), template);
  } catch (error) {
    // Another worker created the same template first.
    if (!existsSync(template)) throw error;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Embedded databases in this process that no test is using, ready for reuse. */
const idleDatabases: Database[] = [];
let openedCount = 0;

/**
 * Returns an embedded database that contains only the neighbor, and no weekly partitions. Its `close` function returns
 * the database to a pool, because loading a database takes 2 s of CPU time, while emptying one takes only 20 ms.
 */
export async function openEmptyDatabase(): Promise<Database> {
  const database = idleDatabases.pop() ?? (await openNewDatabase());
  await database.query(emptyTables);
  let isClosed = false;
  let changes: string[] | undefined;
  openedCount += 1;
  watchNeighbor(
    `embedded database ${openedCount}`,
    async () => changes ?? (await findNeighborChanges(database)),
  );
  const rejectIfClosed =
    <Args extends unknown[], T>(work: (...args: Args) => Promise<T>) =>
    (...args: Args): Promise<T> =>
      isClosed ? Promise.reject(new DatabaseError('The database has been closed.')) : work(...args);
  return {
    ...database,
    query: rejectIfClosed(database.query) as Database['query'],
    execute: rejectIfClosed(database.execute) as Database['execute'],
    transaction: rejectIfClosed(database.transaction) as Database['transaction'],
    close: rejectIfClosed(async () => {
      isClosed = true;
      // Also waits for running statements.
      changes = await findNeighborChanges(database);
      if (changes.length === 0) idleDatabases.push(database);
    }),
  };
}

/** Opens a database that stays open until the process exits. Its folder is deleted when the test run ends. */
async function openNewDatabase(): Promise<Database> {
  const parent = process.env['TRUEWARD_TEST_FOLDER'] ?? tmpdir();
  const directory = join(mkdtempSync(join(parent, 'trueward-embedded-')), 'database');
  await copyDatabaseWithNeighbor(directory);
  return openPGlite(directory, () => undefined);
}
