import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Service } from '../assemble.ts';
import { createKey } from '../key/key-store.ts';
import type { Environment } from '../key/key-text.ts';
import type { Clock } from '../platform/clock.ts';
import { raiseConfigVersion } from '../resource/resource-store.ts';
import type { Queries, Database } from '../store/database.ts';
import { seedEnvironment } from './seed-environment.ts';

/** The keys of the demo account. Their texts are stored in the data folder, because the database has only hashes. */
export type DevelopmentKeys = Record<Environment, { publishable: string; secret: string }>;

/**
 * Creates the demo account on the first start in development, and returns its keys. If several processes start
 * at once, one of them creates it. Updates media URLs when the URL of the service has changed, such as its port.
 */
export async function seedDevelopment(
  service: Service,
  clock: Clock,
  dataDirectory: string,
  url: string,
): Promise<DevelopmentKeys> {
  const file = join(dataDirectory, 'development.json');
  const seed = await service.database.transaction(async (queries) => {
    await queries.query(
      `INSERT INTO migration_lock VALUES ('development')
        ON CONFLICT (account_id) DO UPDATE SET account_id = excluded.account_id`,
    );
    const existing = readSeed(file);
    if (existing && (await accountExists(queries, existing))) return existing;
    const made = await makeAccount(queries, service, clock, url);
    // Written before the commit: without the file, nobody could use the keys.
    writeSeed(file, made);
    return made;
  });
  if (seed.url !== url) {
    await replaceMediaUrls(service.database, seed.accountId, seed.url, url);
    writeSeed(file, { ...seed, url });
  }
  await service.configuration.refresh();
  return seed.keys;
}

/** The file may name an account that does not exist: its commit failed, or it belongs to another database. */
async function accountExists(queries: Queries, { accountId }: Seed): Promise<boolean> {
  const found = await queries.query('SELECT 1 FROM accounts WHERE account_id = $1', [accountId]);
  return found.length > 0;
}

async function makeAccount(
  queries: Queries,
  { makeId, resources }: Service,
  clock: Clock,
  url: string,
): Promise<Seed> {
  const accountId = makeId('account');
  await queries.query('INSERT INTO accounts (account_id, name, created_at) VALUES ($1, $2, $3)', [
    accountId,
    'Demo',
    new Date(clock.nowMs()),
  ]);
  const pair = async (environment: Environment) => {
    await seedEnvironment(queries, resources, clock, { accountId, environment }, url);
    const make = (kind: 'pk' | 'sk') =>
      createKey(queries, clock, makeId, { accountId, environment, kind, allowedOrigins: ['*'] });
    return { publishable: (await make('pk')).text, secret: (await make('sk')).text };
  };
  const keys = { sandbox: await pair('sandbox'), live: await pair('live') };
  await raiseConfigVersion(queries, accountId);
  return { accountId, url, keys };
}

interface Seed {
  accountId: string;
  url: string;
  keys: DevelopmentKeys;
}

function readSeed(file: string): Seed | undefined {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as Seed;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw error;
  }
}

/** Writes a temporary file and renames it, so that a kill leaves either the old or the new file. */
function writeSeed(file: string, seed: Seed): void {
  writeFileSync(`${file}.new`, JSON.stringify(seed, undefined, 2), { mode: 0o600, flush: true });
  renameSync(`${file}.new`, file);
}

/** Updates the media URLs of the account's creatives to a new URL of the service. */
async function replaceMediaUrls(
  database: Database,
  accountId: string,
  from: string,
  to: string,
): Promise<void> {
  await database.transaction(async (queries) => {
    await queries.query(
      `UPDATE resources SET document = replace(document::text, $2, $3)::jsonb
        WHERE account_id = $1 AND kind = 'creative'`,
      [accountId, `"${from}/media/`, `"${to}/media/`],
    );
    await raiseConfigVersion(queries, accountId);
  });
}
