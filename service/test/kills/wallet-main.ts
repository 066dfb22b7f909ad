/**
 * `npm run kills:wallet`: kills the service with SIGKILL while players earn and spend, on the embedded database and, if
 * installed, on PostgreSQL with two processes. Compares every wallet with what the service has confirmed.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import getPort from 'get-port';
import { openPGlite } from '../../src/store/pglite/open-pglite.ts';
import { openPostgres } from '../../src/store/postgres.ts';
import { findSumDifferences } from '../../src/wallet/check-sums.ts';
import { printFindings } from '../faults/verify.ts';
import { startPrivatePostgres } from '../private-postgres.ts';
import { startService } from '../start-service.ts';
import { startWalletPlayers } from './wallet-players.ts';

const help = `npm run kills:wallet [-- --changes 20000 --kills 20 --players 100]

Kills the service with SIGKILL while players earn and spend, restarts it, and compares the wallets with what it confirmed.
  --changes <n>  credits and spends per database (default 20000)
  --kills <n>    kills per database (default 20)
  --players <n>  players at the same time (default 100)
  --store <name> postgresql or embedded (default: both)`;
const { values } = parseArgs({
  options: {
    changes: { type: 'string', default: '20000' },
    kills: { type: 'string', default: '20' },
    players: { type: 'string', default: '100' },
    store: { type: 'string' },
    help: { type: 'boolean', default: false },
  },
});
if (values.help) {
  console.log(help);
  process.exit();
}
const readCount = (name: 'changes' | 'kills' | 'players'): number => {
  const count = Number(values[name]);
  if (Number.isInteger(count) && count > 0) return count;
  throw new Error(`--${name} is ${values[name]}; expected a whole number of at least 1.`);
};
const [changes, kills, players] = [readCount('changes'), readCount('kills'), readCount('players')];

/** How long the players may make no progress before the run is given up. */
const stallMs = 300_000;

async function run(databaseUrl?: string): Promise<Record<string, string[]>> {
  const dataDir = mkdtempSync(join(tmpdir(), 'trueward-wallet-kills-'));
  const ports = [await getPort(), ...(databaseUrl === undefined ? [] : [await getPort()])];
  const start = (index: number) =>
    startService({
      dataDir,
      env: {
        RATE_LIMITS: 'off',
        PORT: String(ports[index]),
        PUBLIC_URL: 'http://wallet.test',
        ...(databaseUrl === undefined ? {} : { DATABASE_URL: databaseUrl }),
      },
    });
  const findDifferences = async (): Promise<string[]> => {
    const database =
      databaseUrl === undefined
        ? await openPGlite(join(dataDir, 'database'), () => undefined)
        : openPostgres(databaseUrl, () => undefined);
    try {
      return (await findSumDifferences(database)).map(({ viewer }) => viewer);
    } finally {
      await database.close();
    }
  };
  const services = [await start(0)];
  if (databaseUrl !== undefined) services.push(await start(1));
  const session = startWalletPlayers({
    urls: () => ports.map((port) => `http://127.0.0.1:${port}`),
    key: services[0]?.keys.sandbox.publishable ?? '',
    count: players,
  });
  const sums: string[] = [];
  const waitFor = async (count: number): Promise<void> => {
    let [last, lastMs] = [session.countChanges(), performance.now()];
    while (session.countChanges() < count) {
      await sleep(20);
      if (session.countChanges() !== last)
        [last, lastMs] = [session.countChanges(), performance.now()];
      if (performance.now() - lastMs > stallMs) throw new Error('The players make no progress.');
    }
  };
  try {
    for (let kill = 1; kill <= kills; kill += 1) {
      await waitFor((changes / kills) * kill);
      await sleep(Math.random() * 500);
      const index = kill % services.length;
      await services[index]?.kill();
      sums.push(...(await findDifferences()));
      services[index] = await start(index);
      console.log(`kill ${kill}: ${session.countChanges()} changes, ${sums.length} differences`);
    }
    const differences = await session.finish();
    console.log(`${session.countChanges()} changes confirmed, ${session.countRepeats()} repeats`);
    if (databaseUrl !== undefined) sums.push(...(await findDifferences()));
    return { sums, differences };
  } finally {
    for (const service of services) await service.kill();
    rmSync(dataDir, { recursive: true, force: true });
  }
}

const stores = ['embedded', 'postgresql'].filter((name) => (values.store ?? name) === name);
if (stores.length === 0)
  throw new Error(`--store is ${values.store}; expected postgresql or embedded.`);
const postgres = stores.includes('postgresql') ? await startPrivatePostgres() : undefined;
for (const store of stores) {
  if (store === 'postgresql' && !postgres) {
    console.log('PostgreSQL is not installed: skipped.');
    continue;
  }
  console.log(store === 'embedded' ? 'The embedded database' : 'PostgreSQL, two processes');
  printFindings(await run(store === 'postgresql' ? postgres?.url : undefined));
}
await postgres?.stop();
