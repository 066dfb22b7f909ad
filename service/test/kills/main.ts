/** `npm run kills:service`: kills the service under load, on the embedded database and, if installed, on PostgreSQL. */
import { readOptions } from '../../../scripts/lib/read-options.mjs';
import { printFindings } from '../faults/verify.ts';
import { startPrivatePostgres } from '../private-postgres.ts';
import { killRepeatedly } from './kills.ts';

const { kills } = readOptions({
  name: 'kills:service',
  about: `Kills the service under load with SIGKILL, restarts it, and compares its database with what it acknowledged, on the
embedded database and, if installed, on PostgreSQL.`,
  options: { kills: { type: 'whole', default: 20, help: 'kills per database' } },
});
const postgres = await startPrivatePostgres();
if (!postgres) console.log('PostgreSQL is not installed: testing the embedded database only.');
for (const databaseUrl of [undefined, ...(postgres ? [postgres.url] : [])]) {
  console.log(databaseUrl === undefined ? 'The embedded database' : 'PostgreSQL');
  const { lost, inconsistent } = await killRepeatedly({
    kills,
    ...(databaseUrl === undefined ? {} : { databaseUrl }),
    onRound: (text) => console.log(text),
  });
  printFindings({ lost, inconsistent });
}
await postgres?.stop();
