/** `npm run probe:database`: checks that the database at `DATABASE_URL` supports the service's statements. */
import { readOptions } from '../../../scripts/lib/read-options.mjs';
import { openPostgres } from '../../src/store/postgres.ts';
import { startPrivatePostgres } from '../private-postgres.ts';
import { probes } from './probes.ts';

readOptions({
  name: 'probe:database',
  about: `Runs the service's SQL statements on the database, and says which of them it doesn't support.

Environment: DATABASE_URL is the database's URL. By default, a PostgreSQL server is started, if it is installed.`,
});
const databaseUrl = process.env['DATABASE_URL'];
const privateServer = databaseUrl === undefined ? await startPrivatePostgres() : undefined;
const url = databaseUrl ?? privateServer?.url;
if (url === undefined) throw new Error('PostgreSQL is not installed: set DATABASE_URL.');
const database = openPostgres(url, (error) => console.error(error));
try {
  const [version] = await database.query<{ version: string }>('SELECT version()');
  console.log(version?.version);
  for (const [name, probe] of Object.entries(probes)) {
    try {
      await probe(database);
      console.log(`ok      ${name}`);
    } catch (error) {
      process.exitCode = 1;
      console.log(`FAILED  ${name}: ${error instanceof Error ? error.message : String(error)}`);
    }
  }
} finally {
  await database.close();
  await privateServer?.stop();
}
