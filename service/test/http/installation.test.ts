import {
  chmodSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
} from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { checkMachine } from '../../src/program/cli/doctor-machine.ts';
import { readConfig } from '../../src/program/config/config.ts';
import { startInProcess } from '../in-process.ts';
import {
  createDatabaseSettings,
  createPostgresDatabase,
  hasPostgres,
} from '../postgres-database.ts';
import { createClient } from './client.ts';
import { run, runInProcess, startCommand } from './command-line.ts';

let folder: string;
let env: Record<string, string>;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'trueward-'));
  env = { TRUEWARD_DATA_DIR: folder, PORT: '0' };
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const readMode = (path: string): number => statSync(path).mode & 0o777;
const createKey = (byte: number): string => Buffer.alloc(32, byte).toString('base64');

test('a new data folder is accessible only to its owner', async () => {
  const dataDir = join(folder, 'data');
  const commandEnv = { ...env, TRUEWARD_DATA_DIR: dataDir };
  expect(await run(['migrate'], commandEnv)).toMatchObject({ code: 0 });
  const names = readdirSync(dataDir, { recursive: true, encoding: 'utf8' });
  expect(names.length).toBeGreaterThan(500);
  expect(readMode(dataDir)).toBe(0o700);
  expect(names.filter((name) => (readMode(join(dataDir, name)) & 0o077) !== 0)).toEqual([]);

  const findPermissionProblems = () =>
    checkMachine(readConfig(commandEnv)).filter(({ text }) => text.includes('chmod -R go= '));
  expect(findPermissionProblems()).toEqual([]);
  chmodSync(dataDir, 0o755);
  expect(findPermissionProblems()).toMatchObject([{ state: 'fail' }]);
  chmodSync(dataDir, 0o700);
  chmodSync(join(dataDir, 'database', 'PG_VERSION'), 0o644);
  expect(findPermissionProblems()).toMatchObject([{ state: 'warn' }]);
});

test.skipIf(!hasPostgres)('a start in development mode makes a missing data folder', async () => {
  const dataDirectory = join(folder, 'missing', 'data');
  const running = await startInProcess(
    { DATABASE_URL: await createPostgresDatabase(), TRUEWARD_MASTER_KEY: createKey(1) },
    { dataDirectory },
  );
  await running.stop();
  expect(existsSync(join(dataDirectory, 'development.json'))).toBe(true);
  expect(readMode(dataDirectory)).toBe(0o700);
});

test('rotating the master key re-encrypts the secrets and replaces the key in the data folder', async () => {
  const oldService = await startInProcess({}, { dataDirectory: folder });
  const client = createClient(oldService);
  const response = await client.call('POST', '/v1/webhooks', client.secret, {
    url: 'http://127.0.0.1:9/hook',
    events: ['decision.served'],
  });
  expect(response.status).toBe(201);
  const decision = await client.decideImage('offline during the rotation');
  await oldService.stop();
  const oldKey = readFileSync(join(folder, 'master.key'), 'utf8');

  const { code, out } = await runInProcess(['master-key', 'rotate'], env);
  expect(code).toBe(0);
  const { reencrypted } = JSON.parse(out) as { reencrypted: number };
  expect(reencrypted).toBeGreaterThanOrEqual(4);
  expect(readFileSync(join(folder, 'master.key'), 'utf8')).not.toBe(oldKey);
  expect(existsSync(join(folder, 'master.key.next'))).toBe(false);

  const serviceWithNewKey = await startInProcess({}, { dataDirectory: folder });
  const reportResponse = await createClient(serviceWithNewKey).reportStart(decision);
  expect(reportResponse.body.results).toMatchObject([{ status: 'accepted' }]);
  await serviceWithNewKey.stop();
});

test('after a master key set in the environment is rotated, the old key is rejected', async () => {
  const [oldKey, newKey] = [createKey(1), createKey(2)];
  const database = await createDatabaseSettings();
  const start = (TRUEWARD_MASTER_KEY: string) =>
    startInProcess({ ...database, TRUEWARD_MASTER_KEY }, { dataDirectory: folder });
  const command = (args: string[], keys: Record<string, string>) =>
    runInProcess(args, { ...env, ...database, ...keys });
  await (await start(oldKey)).stop();
  const rejectedRotation = await command(['master-key', 'rotate'], { TRUEWARD_MASTER_KEY: newKey });
  expect(rejectedRotation).toMatchObject({
    code: 1,
    err: expect.stringContaining('TRUEWARD_OTHER_MASTER_KEY is not set') as string,
  });
  const bothKeys = { TRUEWARD_MASTER_KEY: newKey, TRUEWARD_OTHER_MASTER_KEY: oldKey };
  expect(await command(['master-key', 'rotate'], bothKeys)).toMatchObject({ code: 0 });
  const doctorResult = await command(['doctor'], { TRUEWARD_MASTER_KEY: newKey });
  expect(doctorResult.out).toContain('the master key decrypts the secrets');

  // In a process of its own, because the start must end it.
  const oldKeyResult = await run(['start'], {
    ...env,
    ...database,
    TRUEWARD_MASTER_KEY: oldKey,
  });
  expect(oldKeyResult.code).toBe(1);
  expect(oldKeyResult.err).toContain(
    'The master key cannot decrypt the secrets in the database. Put',
  );
  expect(oldKeyResult.err).not.toContain('    at ');
  const keys = { TRUEWARD_MASTER_KEY: oldKey };
  const result = await command(['master-key', 'discard'], keys);
  expect(result).toMatchObject({ code: 1, err: expect.stringContaining('--confirm') as string });
  expect(await command(['master-key', 'discard', '--confirm'], keys)).toMatchObject({ code: 0 });
  await (await start(oldKey)).stop();
});

test('startup errors are printed without stack traces or secrets', async () => {
  const busyServer = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => busyServer.once('listening', resolve));
  const { port } = busyServer.address() as AddressInfo;
  const database = await createDatabaseSettings();
  const otherEnv = { ...env, TRUEWARD_DATA_DIR: join(folder, 'never') };
  const [busyPort, unreachableDatabase, invalidOrigin] = await Promise.all([
    run(['start'], {
      ...env,
      ...database,
      PORT: String(port),
      TRUEWARD_MASTER_KEY: createKey(1),
    }),
    runInProcess(['migrate'], {
      ...otherEnv,
      DATABASE_URL: `postgres://ads:hunter2@127.0.0.1:9/ads`,
    }),
    run(
      'keys create --environment live --kind publishable --allowed-origin game.example'.split(' '),
      otherEnv,
    ),
  ]);
  await new Promise((resolve) => busyServer.close(resolve));
  expect(busyPort).toMatchObject({
    code: 1,
    err: expect.stringMatching(
      new RegExp(`^Cannot listen on HOST=127.0.0.1 PORT=${port}: another process .*\\n$`, 'm'),
    ) as string,
  });
  expect(unreachableDatabase.err).toMatch(
    /^DATABASE_URL: cannot connect to PostgreSQL at 127\.0\.0\.1:9\/ads as ads: .*ECONNREFUSED.*\n$/,
  );
  expect(invalidOrigin).toMatchObject({
    code: 2,
    err: expect.stringContaining('an origin such as') as string,
  });
  for (const { err } of [busyPort, unreachableDatabase, invalidOrigin]) {
    expect(err).not.toContain('    at ');
    expect(err).not.toContain('hunter2');
  }
  expect(existsSync(join(folder, 'never'))).toBe(false);
});

test('closing the output pipe early does not cause an error', async () => {
  const config = startCommand(['config'], env);
  config.stopReading();
  expect(await config.result).toMatchObject({ code: 0, err: '' });
});

test('--version prints the version, and unknown variables are reported', async () => {
  expect(await run(['--version'], env)).toMatchObject({
    code: 0,
    out: expect.stringMatching(/^trueward-service \d+\.\d+\.\d+\n$/) as string,
  });
  const mistypedEnv = {
    ...env,
    ...(await createDatabaseSettings()),
    TRUEWARD_MASTERKEY: createKey(1),
  };
  const config = await runInProcess(['config'], mistypedEnv);
  expect(config.err).toBe('TRUEWARD_MASTERKEY is not a known setting and is ignored.\n');
  expect((await runInProcess(['doctor'], mistypedEnv)).out).toContain(
    'WARN TRUEWARD_MASTERKEY is not a known setting',
  );
});
