/** `npm run kills:wallet`: kills service processes while players earn and spend, on both database engines. See `--help`. */
import { readOptions } from '../../../scripts/lib/read-options.mjs';
import { printFindings } from '../faults/verify.ts';
import { startPrivatePostgres } from '../private-postgres.ts';
import { runWalletKills } from './wallet-kills.ts';

const { store: stores, ...counts } = readOptions({
  name: 'kills:wallet',
  about: `Kills service processes with SIGKILL while players earn and spend, restarts them, and compares the wallets with what the
service confirmed. Takes about 15 minutes.`,
  options: {
    changes: { type: 'whole', default: 10_000, help: 'credits and spends per database' },
    kills: { type: 'whole', default: 20, help: 'kills per database' },
    players: { type: 'whole', default: 200, help: 'players at the same time' },
    store: { type: 'name', names: ['postgresql', 'embedded'], several: true, help: 'databases' },
  },
});

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
