/** `npm run kills:service [kills]`: on the embedded database, and on PostgreSQL where it is installed. */
import { startPrivatePostgres } from '../private-postgres.ts';
import { killAgainAndAgain } from './kills.ts';

const [kills = 20] = process.argv.slice(2).map(Number);
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
