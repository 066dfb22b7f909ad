/** `npm run kills:demand`: kills service processes that serve external ads, on both database engines. See `--help`. */
import { parseArgs } from 'node:util';
import { printFindings } from '../faults/verify.ts';
import { startPrivatePostgres } from '../private-postgres.ts';
import { runDemandKills } from './demand-kills.ts';

const help = `npm run kills:demand [-- --impressions 10000 --store postgresql]

Kills service processes with SIGKILL while players watch external ads, and compares the database with the tracker
requests, the bidder's notices and the acknowledged rewards. Takes about 15 minutes.
  --impressions <n>  ads to watch on PostgreSQL, and a tenth of that on the embedded database (default 10000)
  --store <name>     postgresql or embedded (default: both)`;
const { values } = parseArgs({
  options: {
    impressions: { type: 'string', default: '10000' },
    store: { type: 'string' },
    help: { type: 'boolean', default: false },
  },
});
if (values.help) {
  console.log(help);
  process.exit();
}
const impressions = Number(values.impressions);
if (!Number.isInteger(impressions) || impressions < 10)
  throw new Error(
    `--impressions is ${values.impressions}; expected a whole number of at least 10.`,
  );
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
  const { watched, kills, trackerRequests, ...violations } = await runDemandKills({
    ...(store === 'postgresql' && postgres
      ? { databaseUrl: postgres.url, impressions, players: 200 }
      : { impressions: Math.ceil(impressions / 10), players: 50 }),
    onProgress: (text) => console.log(text),
  });
  console.log(`${watched} ads watched, ${kills} kills, tracker requests:`, trackerRequests);
  printFindings(violations);
}
await postgres?.stop();
