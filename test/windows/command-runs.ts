import { strict as assert } from 'node:assert';
import { once } from 'node:events';
import { readdirSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { System } from './system.ts';

const main = 'service/dist/main.js';

/** What runs a command. `start` runs with everything else, and `listen` needs a running service. */
const runElsewhere = ['start', 'listen'];

/** `trueward-service listen` passes the event of a new reward on to a receiver on this machine. */
export async function listen(system: System): Promise<undefined> {
  const { dataFolder, dev, platform, repository, watch } = system;
  const types: string[] = [];
  const receiver = createServer((request, response) => {
    let body = '';
    request.on('data', (chunk: Buffer) => (body += chunk.toString()));
    request.on('end', () => {
      types.push((JSON.parse(body) as { type: string }).type);
      response.end();
    });
  }).listen(0, '127.0.0.1');
  await once(receiver, 'listening');
  const { port } = receiver.address() as AddressInfo;
  const listener = platform.start(
    [main, 'listen', '--forward-to', `http://127.0.0.1:${port}`, '--service', dev().serviceUrl],
    {
      cwd: repository,
      env: {
        TRUEWARD_DATA_DIR: platform.toNative(dataFolder),
        TRUEWARD_SECRET_KEY: dev().keys.sandbox.secret,
      },
    },
  );
  const waitFor = async (isDone: () => boolean): Promise<void> => {
    for (let waitedMs = 0; !isDone(); waitedMs += 200) {
      assert(waitedMs < 60_000, listener.output());
      await sleep(200);
    }
  };
  await waitFor(() => listener.output().includes('"listening":true'));
  await watch('listener');
  await waitFor(() => types.includes('decision.rewarded'));
  receiver.close();
  return undefined;
}

/** Runs every command on the data of a service that was killed. */
export async function runEveryCommand({ dataFolder, platform, runTool }: System): Promise<string> {
  const ran = new Set(runElsewhere);
  const run = (name: string, args: string[] = [], code = 0): Promise<string> => {
    ran.add(name);
    return runTool([main, ...name.split(' '), ...args], { code });
  };
  const archive = join(platform.folder, 'Archiv ü');

  assert.match(await run('config'), /TRUEWARD_DATA_DIR/);
  await run('migrate');
  // Windows has no file modes.
  assert.doesNotMatch(await run('doctor'), /chmod/);
  const key = await run('keys create', ['--environment', 'sandbox', '--kind', 'secret']);
  const { id } = readJson(key);
  const { id: newId } = readJson(await run('keys roll', [id]));
  await run('keys revoke', [newId]);
  assert.match(await run('keys list'), new RegExp(newId));
  assert.match(await run('users invite', ['zoe.mueller@example.com']), /token=/);
  await run('receipt-keys rotate');
  await run('master-key rotate');
  assert.match(
    await run('export-player', ['--user', 'first-0', '--environment', 'sandbox']),
    /first-0|decision/,
  );
  await run('erase', ['--user', 'first-0', '--environment', 'sandbox']);
  await run('archive', ['--before', '2099-01-01', '--to', platform.toNative(archive)]);
  // There is no PostgreSQL server here, so this shows only how it fails.
  assert.match(await run('copy', ['--to', 'postgres://127.0.0.1:1/none'], 1), /127\.0\.0\.1/);
  rmSync(join(dataFolder, 'master.key'));
  assert.match(await run('master-key discard', ['--confirm']), /"secrets":[1-9]/);

  assert.deepEqual([...ran].sort(), readNames(await runTool([main, '--help'])).sort());
  return `${ran.size} commands, ${readdirSync(archive).length} archive files`;
}

/** Reads the commands' names from the help. */
function readNames(help: string): string[] {
  const [, list = ''] = /^Commands\r?\n([^]*?)\r?\n\r?\n/m.exec(help) ?? [];
  return list.split(/\r?\n/).map((line) => line.trim().split(/ {2,}/)[0] ?? '');
}

/** Reads the line of JSON that a command prints. */
function readJson(output: string): { id: string } {
  const line = output.split(/\r?\n/).find((text) => text.startsWith('{"'));
  assert(line !== undefined, output);
  return JSON.parse(line) as { id: string };
}
