import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Service } from '../assemble.ts';
import { createKey } from '../key/key-store.ts';
import type { Environment } from '../key/key-text.ts';
import type { Clock } from '../platform/clock.ts';
import { raiseConfigVersion } from '../resource/resource-store.ts';
import { replaceMediaAddress } from './media-address.ts';
import { seedEnvironment } from './seed-environment.ts';

/** The keys of the demo account. Their text lies in the data folder, because the database has hashes only. */
export type DevelopmentKeys = Record<Environment, { publishable: string; secret: string }>;

/**
 * Makes the demo account on the first start for development, and hands back its keys. The address
 * of the media follows the service's, which may have another port today.
 */
export async function seedDevelopment(
  service: Service,
  clock: Clock,
  dataDirectory: string,
  url: string,
): Promise<DevelopmentKeys> {
  const file = join(dataDirectory, 'development.json');
  const existing = readSeed(file);
  if (existing) {
    if (existing.url !== url) {
      await replaceMediaAddress(service.database, existing.accountId, existing.url, url);
      writeSeed(file, { ...existing, url });
    }
    await service.configuration.refresh();
    return existing.keys;
  }
  const accountId = service.makeId('account');
  const keys = await service.database.transaction(async (queries) => {
    await queries.query('INSERT INTO accounts (account_id, name, created_at) VALUES ($1, $2, $3)', [
      accountId,
      'Demo',
      new Date(clock.nowMs()),
    ]);
    const pair = async (environment: Environment) => {
      await seedEnvironment(queries, service.resources, clock, { accountId, environment }, url);
      const make = (kind: 'pk' | 'sk') =>
        createKey(queries, clock, service.makeId, {
          accountId,
          environment,
          kind,
          allowedOrigins: ['*'],
        });
      return { publishable: (await make('pk')).text, secret: (await make('sk')).text };
    };
    const made = { sandbox: await pair('sandbox'), live: await pair('live') };
    await raiseConfigVersion(queries, accountId);
    // Written before the commit: keys without a file could not be used by anybody.
    writeSeed(file, { accountId, url, keys: made });
    return made;
  });
  await service.configuration.refresh();
  return keys;
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
