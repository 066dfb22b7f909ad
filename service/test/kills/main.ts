/** `npm run kills:service`: kills the service under load, on the embedded database and, if installed, on PostgreSQL. */
import { parseArgs } from 'node:util';
import { printFindings } from '../faults/verify.ts';
import { startPrivatePostgres } from '../private-postgres.ts';
import { killRepeatedly } from './kills.ts';

const help = `npm run kills:service [-- --kills 20]

Kills the service under load with SIGKILL, restarts it, and compares its database with what it acknowledged.
  --kills <n>  kills per database (default 20)`;
const { values } = parseArgs({
  options: { kills: { type: 'string', default: '20' }, help: { type: 'boolean', default: false } },
});
if (values.help) {
  console.log(help);
  process.exit();
}
const kills = Number(values.kills);
if (!Number.isInteger(kills) || kills < 1)
  throw new Error(`--kills is ${values.kills}; expected a whole number of at least 1.`);
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
