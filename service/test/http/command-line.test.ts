import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ApiKey, KillSwitch } from '@trueward/protocol/wire';
import { verifyWebhook } from 'trueward/server';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { commands as allCommands } from '../../src/program/cli/commands.ts';
import { startInProcess } from '../in-process.ts';
import { createDatabaseSettings } from '../postgres-database.ts';
import { createClient } from './client.ts';
import { startCommand, runInProcess } from './command-line.ts';
import { createPanelClient } from './panel-client.ts';
import { startReceiver } from './receiver.ts';

let folder: string;
let env: Record<string, string>;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'trueward-'));
  env = { TRUEWARD_DATA_DIR: folder, PORT: '0' };
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** Starts a service that uses the same data folder as the commands. */
const start = (serviceEnv: Record<string, string> = env) =>
  startInProcess(serviceEnv, { dataDirectory: serviceEnv['TRUEWARD_DATA_DIR'] ?? '' });

const commands = [
  'start',
  'config',
  'migrate',
  'keys create',
  'keys list',
  'keys roll',
  'keys revoke',
  'users invite',
  'receipt-keys rotate',
  'listen',
  'copy',
  'doctor',
];

test('--help lists every command, and every command supports it', async () => {
  const overview = await runInProcess(['--help'], env);
  expect(overview.code).toBe(0);
  for (const command of commands) {
    expect(overview.out).toContain(`  ${command} `);
    const { code, out } = await runInProcess([...command.split(' '), '--help'], env);
    expect([code, out]).toEqual([0, expect.stringContaining(`Usage: trueward-service ${command}`)]);
  }
  expect((await runInProcess(['keys'], env)).err).toContain('keys revoke');
});

/** Each command, and whether it needs the master key, because it has a power. */
const commandTable: Record<string, { args?: string[]; power: boolean }> = {
  // These two don't open the database, or open it as the service does.
  start: { args: ['--help'], power: false },
  config: { power: false },
  migrate: { power: false },
  'keys create': { args: ['--environment', 'sandbox', '--kind', 'secret'], power: true },
  'keys list': { power: false },
  'keys roll': { args: ['key_1'], power: true },
  'keys revoke': { args: ['key_1'], power: true },
  'users invite': { args: ['ada@example.com', '--account', 'acc_1'], power: true },
  'receipt-keys rotate': { power: true },
  'master-key rotate': { power: true },
  // For a master key that is lost. It asks for a confirmation instead.
  'master-key discard': { power: false },
  listen: { args: ['--help'], power: false },
  copy: { args: ['--to', 'postgres://127.0.0.1:1/none'], power: true },
  archive: { args: ['--to', join(tmpdir(), 'trueward-none')], power: true },
  erase: { args: ['--user', 'u'], power: true },
  'export-player': { args: ['--user', 'u'], power: true },
  doctor: { power: false },
};

test('commands that have a power need the master key, not only the database', async () => {
  expect(Object.keys(commandTable)).toEqual(allCommands.map(({ name }) => name));
  env = { ...env, ...(await createDatabaseSettings()) };
  await (await start()).stop();
  const masterKeys: Record<string, string>[] = [
    { TRUEWARD_MASTER_KEY: Buffer.alloc(32, 7).toString('base64') },
    { TRUEWARD_DATA_DIR: `${folder}/empty` },
  ];
  const withoutKey = env['DATABASE_URL'] === undefined ? masterKeys.slice(0, 1) : masterKeys;
  for (const [name, { args = [], power }] of Object.entries(commandTable)) {
    for (const key of withoutKey) {
      const wrong = { ...env, ...key, TRUEWARD_OTHER_MASTER_KEY: key['TRUEWARD_MASTER_KEY'] ?? '' };
      const { out, err } = await runInProcess([...name.split(' '), ...args], wrong);
      const isRefused = err.includes('The master key cannot decrypt the secrets');
      expect([name, isRefused]).toEqual([name, power]);
      if (power) expect([out, existsSync(`${folder}/empty/master.key`)]).toEqual(['', false]);
    }
  }
});

/** The commands with which an installation begins. All others expect the database to exist. */
const creatingCommands = new Set(['start', 'migrate', 'keys create', 'users invite']);

test('in a folder without a database, only commands that begin an installation create one', async () => {
  const dataDirectory = join(folder, 'mistyped');
  const withConfirmation: Record<string, string[]> = { 'master-key discard': ['--confirm'] };
  for (const [name, { args = [] }] of Object.entries(commandTable)) {
    if (creatingCommands.has(name) || args.includes('--help') || name === 'config') continue;
    const { code, out, err } = await runInProcess(
      [...name.split(' '), ...args, ...(withConfirmation[name] ?? [])],
      { TRUEWARD_DATA_DIR: dataDirectory },
    );
    expect([name, code, out + err]).toEqual([
      name,
      1,
      expect.stringContaining(`There is no database in ${dataDirectory}`),
    ]);
    expect(existsSync(dataDirectory), name).toBe(false);
  }
});

test.each([
  [['dance'], 'Unknown command dance.'],
  [['keys', 'create', '--kind', 'golden'], '--environment must be one of sandbox, live'],
  [['keys', 'roll'], 'Missing argument <key id>.'],
  [['users', 'invite', 'ada'], '"ada" is not an e-mail address.'],
  [['keys', 'roll', 'key_x', '--overlap', 'soon'], '--overlap is "soon"; expected seconds'],
  [['migrate', 'now'], 'Unexpected argument "now".'],
  [['copy', '--into', 'x'], "Unknown option '--into'"],
  [['listen', '--forward-to', 'localhost:3000'], '--forward-to must be an http or https URL'],
])('the arguments %j are rejected with an error and the usage text', async (args, message) => {
  const { code, err } = await runInProcess(args, env);
  expect(code).toBe(2);
  expect(err).toContain(message);
  expect(err).toContain('Usage: trueward-service');
});

test('`receipt-keys rotate` keeps publishing the old key', async () => {
  env = { ...env, ...(await createDatabaseSettings()) };
  const readKids = async () => {
    const service = await start();
    const response = await fetch(`${service.url}/.well-known/jwks.json`);
    const { keys } = (await response.json()) as { keys: { kid: string }[] };
    await service.stop();
    return keys.map(({ kid }) => kid);
  };
  const kidsBefore = await readKids();
  const { out } = await runInProcess(['receipt-keys', 'rotate'], env);
  const { kids } = JSON.parse(out) as { kids: string[] };
  expect(kidsBefore).toHaveLength(1);
  expect(kids).toEqual([expect.not.stringContaining(kidsBefore[0] ?? ''), kidsBefore[0]]);
  expect(await readKids()).toEqual(kids);
});

test('keys can be created, listed, rolled and revoked', async () => {
  env = { ...env, ...(await createDatabaseSettings()) };
  const create = async (...extraArgs: string[]) => {
    const args = ['keys', 'create', '--environment', 'sandbox', '--kind', 'secret', ...extraArgs];
    return JSON.parse((await runInProcess(args, env)).out) as ApiKey & { account_id: string };
  };
  const [firstKey, secondKey] = [await create(), await create()];
  expect(secondKey.account_id).toBe(firstKey.account_id);
  const rejectedCreation = await runInProcess(
    ['keys', 'create', '--environment', 'live', '--kind', 'publishable'],
    env,
  );
  expect([rejectedCreation.code, rejectedCreation.err]).toEqual([
    1,
    expect.stringContaining('allowed_origins is required'),
  ]);
  const rolledKey = JSON.parse(
    (await runInProcess(['keys', 'roll', firstKey.id, '--overlap', '600'], env)).out,
  ) as ApiKey;
  expect((await runInProcess(['keys', 'revoke', secondKey.id], env)).code).toBe(0);
  const list = (await runInProcess(['keys', 'list'], env)).out;
  expect(list).toContain(`"last_four":"${rolledKey.last_four}"`);
  expect(list).not.toContain(rolledKey.key);

  const service = await start();
  const status = async (key: string | undefined) =>
    (await fetch(`${service.url}/v1/placements`, { headers: { authorization: `Bearer ${key}` } }))
      .status;
  expect([
    await status(firstKey.key),
    await status(rolledKey.key),
    await status(secondKey.key),
  ]).toEqual([200, 200, 401]);
  const audit = await fetch(`${service.url}/v1/audit-entries`, {
    headers: { authorization: `Bearer ${rolledKey.key}` },
  });
  expect(await audit.json()).toMatchObject({
    data: expect.arrayContaining([
      expect.objectContaining({
        actor: 'command_line',
        action: 'key.revoked',
        target_id: secondKey.id,
      }),
    ]) as unknown,
  });
  await service.stop();
});

test('`listen` forwards each event once, signed with the printed secret', async () => {
  const service = await startInProcess();
  const client = createClient(service);
  const receiver = await startReceiver((index) => (index === 0 ? 500 : 204));
  const path = '/v1/kill-switches';
  const lobby = { scope: 'placement', target_id: 'lobby', state: 'on' };
  const { body: createdSwitch } = await client.call<KillSwitch>('POST', path, client.secret, lobby);
  const setState = (state: string) =>
    client.call('PATCH', `${path}/${createdSwitch.id}`, client.secret, { state });
  const args = ['listen', '--forward-to', receiver.url, '--service', service.url];
  const rejectedCommand = await runInProcess(args, {
    ...env,
    TRUEWARD_SECRET_KEY: service.keys.live.secret,
  });
  expect([rejectedCommand.code, rejectedCommand.err]).toEqual([
    2,
    expect.stringContaining('expected a sandbox secret key'),
  ]);

  const listening = startCommand(args, { ...env, TRUEWARD_SECRET_KEY: client.secret });
  const { secret } = JSON.parse(await listening.waitForLine(/"listening":true/)) as {
    secret: string;
  };
  await setState('off');
  await setState('on');
  const requests = await receiver.waitForRequests(2);
  const events = await Promise.all(
    requests.map(({ body, headers }) => verifyWebhook(body, headers, secret)),
  );
  expect(events).toMatchObject([
    { type: 'kill_switch.changed', data: { kill_switch_id: createdSwitch.id, state: 'off' } },
    { type: 'kill_switch.changed', data: { kill_switch_id: createdSwitch.id, state: 'on' } },
  ]);
  await listening.waitForLine(/kill_switch\.changed evt_\w+ → 500 in \d+ ms/);
  const result = await listening.interrupt();
  expect(result.code).toBe(0);
  expect(requests.length).toBe(2);
  await Promise.all([receiver.close(), service.stop()]);
});

test("`doctor` reports an installation's problems", async () => {
  env = { ...env, ...(await createDatabaseSettings()) };
  const service = await start();
  const { port } = new URL(service.url);
  expect(await runInProcess(['doctor'], { ...env, PORT: port })).toMatchObject({
    code: 0,
    out: expect.stringMatching(/ok .*a service is running/) as string,
  });
  const client = createClient(service);
  const receiverWith410 = await startReceiver(() => 410);
  const { body: webhook } = await client.call<{ id: string }>(
    'POST',
    '/v1/webhooks',
    client.secret,
    {
      url: receiverWith410.url,
      events: ['kill_switch.changed'],
    },
  );
  await client.call('POST', '/v1/policies', client.secret, {
    name: 'Not in Germany',
    kind: 'policy',
    when: { countries: ['DE'] },
    block: { everything: true },
  });
  const source = await createClient(service, 'live').manage<{ id: string }>('POST', '/v1/sources', {
    name: 'Network',
    kind: 'vast',
    tag_url: 'https://play.example/v',
    ads_txt: { domain: 'site.example', lines: ['play.example, 1, DIRECT'] },
  });
  // The API refuses names without a dot. This one stands for a site whose domain resolves to a loopback address.
  await service.service.database.query(
    `UPDATE resources SET document = jsonb_set(document, '{ads_txt,domain}', '"localhost"') WHERE id = $1`,
    [source.id],
  );
  await service.service.database.query(
    `INSERT INTO wallet_balances VALUES ('acc_x', 'live', 'a player', 'coins', 5, NULL, 1)`,
  );
  await createClient(service, 'live').manage('PUT', '/v1/retention', { decision_days: 20 });
  await client.call('POST', `/v1/webhooks/${webhook.id}/test`, client.secret, {});
  let status: string;
  do {
    const { body } = await client.call<{ status: string }>(
      'GET',
      `/v1/webhooks/${webhook.id}`,
      client.secret,
    );
    ({ status } = body);
  } while (status === 'enabled');
  await Promise.all([receiverWith410.close(), service.stop()]);

  const report = await runInProcess(['doctor'], env);
  expect(report.code).toBe(1);
  expect(report.out).toMatch(/ok .*the master key decrypts the secrets/);
  expect(report.out).toMatch(/WARN .*no service responds/);
  expect(report.out).toMatch(
    /ok .*kept of acc_\w+: decisions, events and deliveries 20 days, audit log \d+ days/,
  );
  expect(report.out).toContain(`FAIL webhook ${webhook.id}`);
  expect(report.out).toMatch(/FAIL .*1 wallets don't add up .* a player in acc_x \(live\)/);
  expect(report.out).toMatch(/WARN .*Not in Germany.* never applies/);
  expect(report.out).toMatch(/WARN https:\/\/localhost\/ads.txt.*Network.*public internet/);
  const otherMasterKey = Buffer.alloc(32).toString('base64');
  const { code, out } = await runInProcess(['doctor'], {
    ...env,
    TRUEWARD_MASTER_KEY: otherMasterKey,
  });
  expect([code, out]).toEqual([1, expect.stringContaining('FAIL The master key cannot decrypt')]);
  expect((await runInProcess(['doctor'], { ...env, LOG_LEVEL: 'loud' })).out).toContain(
    'FAIL The config',
  );
});

test('`config` prints the effective settings without secrets', async () => {
  const secrets = {
    DATABASE_URL: 'postgres://me:hunter2@db/ads',
    TRUEWARD_MASTER_KEY: Buffer.alloc(32, 7).toString('base64'),
    METRICS_TOKEN: 'a-token-of-sixteen',
  };
  const { code, out } = await runInProcess(['config'], { ...env, ...secrets });
  expect(code).toBe(0);
  const shownSettings = out
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, unknown>);
  expect(shownSettings).toContainEqual({ name: 'PORT', value: '0', origin: 'environment' });
  expect(shownSettings).toContainEqual({ name: 'DATABASE_URL', value: '…', origin: 'environment' });
  expect(shownSettings).toContainEqual({ name: 'DRAIN_S', value: '0', origin: 'default' });
  for (const secret of [...Object.values(secrets), 'hunter2']) expect(out).not.toContain(secret);
  const invalidConfig = await runInProcess(['config'], { ...env, PORT: 'many' });
  expect([invalidConfig.code, invalidConfig.err]).toEqual([
    1,
    expect.stringContaining('PORT is "many"'),
  ]);
});

test('`migrate` prints the migrations that it applied', async () => {
  env = { ...env, ...(await createDatabaseSettings()) };
  const firstMigration = await runInProcess(['migrate'], env);
  expect(JSON.parse(firstMigration.out)).toMatchObject({
    migrated: expect.arrayContaining(['0001-initial']) as unknown,
  });
  expect(firstMigration.err).toContain('Applying migration 0001-initial');
  expect(JSON.parse((await runInProcess(['migrate'], env)).out)).toEqual({ migrated: [] });
});

test('the first start and `users invite` print setup links', async () => {
  env = { ...env, ...(await createDatabaseSettings()) };
  const startServiceCommand = async () => {
    const service = startCommand(['start'], env);
    const ready = JSON.parse(await service.waitForLine(/"ready"/)) as {
      url: string;
      setup_url?: string;
    };
    return { ...service, ...ready, browser: createPanelClient(ready.url) };
  };
  const parseToken = (url = '') => new URL(url).hash.replace('#/setup?token=', '');

  const firstRun = await startServiceCommand();
  expect(firstRun.setup_url).toMatch(`${firstRun.url}/panel/#/setup?token=`);
  const setupResponse = await firstRun.browser.setUp(
    parseToken(firstRun.setup_url),
    'ada@example.com',
  );
  expect(setupResponse.body).toMatchObject({ user: { role: 'owner' }, account: { name: 'Main' } });
  await firstRun.interrupt();

  const { out } = await runInProcess(['users', 'invite', 'Ada@example.com'], env);
  const invitation = JSON.parse(out) as { role: string; invite_url: string };
  expect(invitation.role).toBe('owner');
  const secondRun = await startServiceCommand();
  expect(secondRun.setup_url).toBeUndefined();
  const response = await secondRun.browser.setUp(
    parseToken(invitation.invite_url),
    'ada@example.com',
  );
  expect(response.status).toBe(200);
  await secondRun.interrupt();
});

test('`erase` and `export-player` find one player’s data, and no other’s', async () => {
  env = { ...env, ...(await createDatabaseSettings()) };
  const service = await start();
  const client = createClient(service);
  const players = ['ada', 'grace'] as const;
  for (const user of players)
    await client.decide({ placement: 'revive', user_ref: user, simulate: 'no_fill' });
  await service.stop();
  const ofPlayer = (user: string) => ['--user', user, '--environment', 'sandbox'];
  const exportLines = async (user: string) => {
    const { code, out } = await runInProcess(['export-player', ...ofPlayer(user)], env);
    expect(code).toBe(0);
    return out.trim() === '' ? [] : out.trim().split('\n');
  };
  for (const user of players)
    expect((await exportLines(user)).map((line) => JSON.parse(line) as object)).toContainEqual(
      expect.objectContaining({ record: 'decision', user_ref: user }),
    );
  const before = await exportLines('grace');
  const erased = await runInProcess(['erase', ...ofPlayer('ada')], env);
  expect([erased.code, JSON.parse(erased.out)]).toEqual([
    0,
    expect.objectContaining({ kind: 'erasure', state: 'done' }),
  ]);
  expect(await exportLines('ada')).toEqual([]);
  expect(await exportLines('grace')).toEqual(before);
  // A player of the other environment is someone else, and an unknown player has nothing to erase.
  expect((await runInProcess(['export-player', '--user', 'grace'], env)).out).toBe('');
  expect((await runInProcess(['erase', ...ofPlayer('nobody')], env)).code).toBe(0);
  expect((await runInProcess(['erase'], env)).code).toBe(2);
});
