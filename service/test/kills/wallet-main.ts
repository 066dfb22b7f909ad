/** `npm run kills:wallet`: kills service processes while players earn and spend, on both database engines. See `--help`. */
import { parseArgs } from 'node:util';
import { printFindings } from '../faults/verify.ts';
import { startPrivatePostgres } from '../private-postgres.ts';
import { runWalletKills } from './wallet-kills.ts';

const help = `npm run kills:wallet [-- --changes 10000 --kills 20 --players 200 --store postgresql]

Kills service processes with SIGKILL while players earn and spend, restarts them, and compares the wallets with what the
service confirmed. Takes about 15 minutes.
  --changes <n>  credits and spends per database (default 10000)
  --kills <n>    kills per database (default 20)
  --players <n>  players at the same time (default 200)
  --store <name> postgresql or embedded (default: both)`;
const { values } = parseArgs({
  options: {
    changes: { type: 'string', default: '10000' },
    kills: { type: 'string', default: '20' },
    players: { type: 'string', default: '200' },
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
const counts = {
  changes: readCount('changes'),
  kills: readCount('kills'),
  players: readCount('players'),
};
const stores = ['postgresql', 'embedded'].filter((name) => (values.store ?? name) === name);
if (stores.length === 0)
  throw new Error(`--store is ${values.store}; expected postgresql or embedded.`);

const postgres = stores.includes('postgresql') ? await startPrivatePostgres() : undefined;
for (const store of stores) {
  if (store === 'postgresql' && !postgres) {
    console.log('PostgreSQL: skipped because it is not installed.');
    continue;
  }
  console.log(store === 'postgresql' ? 'PostgreSQL, two processes' : 'The embedded database');
  const { credits, spends, guests, kills, repeats, ...violations } = await runWalletKills({
    ...counts,
    ...(store === 'postgresql' && postgres ? { databaseUrl: postgres.url } : {}),
    onProgress: (text) => console.log(text),
  });
  console.log(
    `${credits} credits and ${spends} spends of ${guests} players confirmed, ${kills} kills, ${repeats} repeated requests`,
  );
  printFindings({ ...violations });
}
await postgres?.stop();
