/** `npm run kills:service`: on the embedded database and, if installed, on PostgreSQL. */
import { parseArgs } from 'node:util';
import { startPrivatePostgres } from '../private-postgres.ts';
import { killAgainAndAgain } from './kills.ts';

const help = `npm run kills:service [-- --kills 20]

Ends the service with SIGKILL under load, starts it again, and compares its database with what it acknowledged.
  --kills <n>  how often, on each database (default 20)`;
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
if (!postgres) console.log('There is no PostgreSQL on this machine: only the embedded database.');
for (const databaseUrl of [undefined, ...(postgres ? [postgres.url] : [])]) {
  console.log(databaseUrl === undefined ? 'The embedded database' : 'PostgreSQL');
  const { lost, torn } = await killAgainAndAgain({
    kills,
    ...(databaseUrl === undefined ? {} : { databaseUrl }),
    onRound: (text) => console.log(text),
  });
  console.log(`${lost.length} lost, ${torn.length} torn`);
  for (const line of [...lost.slice(0, 10), ...torn]) console.log(line);
  if (lost.length + torn.length > 0) process.exitCode = 1;
}
await postgres?.stop();
