/** `npm run kills:demand`: kills service processes that serve external ads, on both database engines. See `--help`. */
import { readOptions } from '../../../scripts/lib/read-options.mjs';
import { printFindings } from '../faults/verify.ts';
import { startPrivatePostgres } from '../private-postgres.ts';
import { runDemandKills } from './demand-kills.ts';

const { impressions, store: stores } = readOptions({
  name: 'kills:demand',
  about: `Kills service processes with SIGKILL while players watch external ads, and compares the database with the tracker
requests, the bidder's notices and the acknowledged rewards. Takes about 15 minutes.`,
  options: {
    impressions: {
      type: 'whole',
      least: 10,
      default: 10_000,
      help: 'ads to watch on PostgreSQL, and a tenth of that on the embedded database',
    },
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
