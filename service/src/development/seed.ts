import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Service } from '../assemble.ts';
import { createKey } from '../key/key-store.ts';
import type { Environment } from '../key/key-text.ts';
import type { Clock } from '../platform/clock.ts';
import { raiseConfigVersion } from '../resource/resource-store.ts';
import type { Queries, Database } from '../store/database.ts';
import { seedEnvironment } from './seed-environment.ts';

/** The keys of the demo account. Their text lies in the data folder, because the database has hashes only. */
export type DevelopmentKeys = Record<Environment, { publishable: string; secret: string }>;

/**
 * Creates the demo account on the first start for development, and returns its keys. When several
 * processes start at once, one of them creates it. Media URLs follow the service's address, whose port
 * may have changed since.
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
    // Written before the commit: keys without a file could not be used by anybody.
    writeSeed(file, made);
    return made;
  });
  if (seed.url !== url) {
    await replaceMediaAddress(service.database, seed.accountId, seed.url, url);
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

/** Written aside and moved, so that a kill leaves the old file or the new one. */
function writeSeed(file: string, seed: Seed): void {
  writeFileSync(`${file}.new`, JSON.stringify(seed, undefined, 2), { mode: 0o600, flush: true });
  renameSync(`${file}.new`, file);
}

/** Moves the media of the account's creatives from one address of the service to another. */
async function replaceMediaAddress(
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
