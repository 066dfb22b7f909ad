import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { RewardStatus } from '@trueward/protocol/wire';
import pg from 'pg';
import { expect, test } from 'vitest';
import { startInProcess } from '../in-process.ts';
import { createEmptyPostgresDatabase, hasPostgres } from '../postgres-database.ts';
import { createClient } from './client.ts';

const guide = readFileSync(new URL('../../../docs/backup.md', import.meta.url), 'utf8');
const main = new URL('../../dist/main.js', import.meta.url).pathname;

/** Returns the commands in the guide that follow the comment `# title`. */
function readCommands(title: string): string {
  const [, commands] =
    new RegExp(`\`\`\`sh\\n# ${title}[^\\n]*\\n([^\`]+)\`\`\``).exec(guide) ?? [];
  if (commands === undefined) throw new Error(`The guide has no commands for ${title}.`);
  return commands.replaceAll('trueward-service', `"${process.execPath}" "${main}"`);
}

/** Whether the server is newer than the installed `pg_dump`, which rejects newer servers. */
async function isNewerThanPgDump(url: string): Promise<boolean> {
  const client = new pg.Client(url);
  await client.connect();
  const { rows } = await client.query<{ server_version: string }>('SHOW server_version');
  await client.end();
  const version = execFileSync('pg_dump', ['--version'], { encoding: 'utf8' });
  return Number.parseInt(rows[0]?.server_version ?? '') > Number(/ (\d+)/.exec(version)?.[1]);
}

test('the commands in the guide back up and restore a running service', async ({ skip }) => {
  if (!hasPostgres) return skip('PostgreSQL is not available.');
  const urls = {
    DATABASE_URL: await createEmptyPostgresDatabase(),
    NEW_DATABASE_URL: await createEmptyPostgresDatabase(),
  };
  // The server in POSTGRES_BIN may be newer than the `pg_dump` on the PATH.
  if (await isNewerThanPgDump(urls.DATABASE_URL))
    return skip('The installed pg_dump is older than the server.');
  const folder = mkdtempSync(join(tmpdir(), 'trueward-backup-'));
  const sh = (commands: string): string =>
    execFileSync('sh', ['-e', '-c', commands], {
      cwd: folder,
      encoding: 'utf8',
      env: { PATH: process.env['PATH'], TRUEWARD_DATA_DIR: folder, PORT: '1', ...urls },
    });

  const sourceService = await startInProcess(
    { DATABASE_URL: urls.DATABASE_URL },
    { dataDirectory: folder },
  );
  const sourceClient = createClient(sourceService);
  const decision = await sourceClient.decideImage('before the backup');
  await sourceClient.reportStart(decision);
  sh(readCommands('back up'));
  await sourceService.stop();
  expect(sh(readCommands('restore'))).toMatch(/ok .*the master key decrypts the secrets/);

  const restoredService = await startInProcess(
    { DATABASE_URL: urls.NEW_DATABASE_URL },
    { dataDirectory: folder },
  );
  expect(restoredService.keys).toEqual(sourceService.keys);
  const restoredClient = createClient(restoredService);
  const path = `/v1/decisions/${decision.id}`;
  const { status } = await restoredClient.call<RewardStatus>('GET', path, restoredClient.secret);
  expect(status).toBe(200);
  await restoredService.stop();
  rmSync(folder, { recursive: true, force: true });
});
