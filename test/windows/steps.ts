import { strict as assert } from 'node:assert';
import { copyFileSync, existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { copyFolder } from '../../scripts/lib/copy-folder.mjs';
import { createPanelClient } from '../../service/test/http/panel-client.ts';
import { listen, runEveryCommand } from './command-runs.ts';
import type { Platform } from './platform.ts';
import { createSystem, type System } from './system.ts';

type Step = [name: string, run: () => Promise<string | undefined>];

/** The steps, in order. */
export function steps(platform: Platform, repository: string): Step[] {
  const system = createSystem(platform, repository);
  let uploadUrl: string;
  return [
    ['npm start, for the first time', () => system.startEverything()],
    ['honest watches, credited by webhook', () => system.watchAll('first')],
    ['a second start in the same folder is refused', () => startTwice(system)],
    [
      'an upload whose name Windows forbids',
      async () => {
        uploadUrl = await upload(system);
        return undefined;
      },
    ],
    ['trueward-service listen', () => listen(system)],
    ['npm create trueward, with a game server', () => createGameWithServer(system)],
    ['npm create trueward, without a game server', () => createGameWithoutServer(system)],
    ['a start after everything was killed keeps everything', () => restart(system, uploadUrl)],
    ['another start, after another kill', () => restart(system, uploadUrl)],
    [
      'every command of trueward-service',
      async () => {
        await platform.crash();
        return runEveryCommand(system);
      },
    ],
    ['a database in a path of more than 260 characters', () => migrateLongPath(system)],
  ];
}

async function startTwice({ runStart }: System): Promise<undefined> {
  const second = runStart();
  assert.equal(await second.exit, 1);
  assert.match(second.output(), /already running with this data directory/);
  return undefined;
}

/** Uploads a file. Returns its URL. */
async function upload({ dev, output, repository }: System): Promise<string> {
  const token = /setup\?token=(\S+)/.exec(output())?.[1] ?? '';
  const panel = createPanelClient(dev().serviceUrl);
  assert.equal((await panel.setUp(token, 'zoe@example.com')).status, 200);
  const file = new Blob([readFileSync(join(repository, 'test/media/picture.png'))]);
  const path = `/panel/api/media?name=${encodeURIComponent('aux:con<2>?.png ')}`;
  const { status, body } = await panel.send<{ url: string }>('POST', path, file, {
    'content-type': 'image/png',
  });
  assert.equal(status, 201, JSON.stringify(body));
  assert.equal((await fetch(body.url)).status, 200);
  for (const name of ['..%5Cmaster.key', 'con.png', 'a:b.png', `${'a'.repeat(300)}.png`])
    assert.equal((await fetch(`${dev().serviceUrl}/media/${name}`)).status, 404, name);
  return body.url;
}

let restarts = 0;

/** Kills everything, as a power failure would, and starts it again. */
async function restart(system: System, uploadUrl: string): Promise<string> {
  const { countCoins, dev, platform, startEverything, watchAll, watchers } = system;
  const { keys } = dev();
  await platform.crash();
  await startEverything();
  assert.deepEqual(dev().keys, keys);
  for (let index = 0; index < watchers; index += 1)
    assert.notEqual(await countCoins(`first-${index}`), 0, `first-${index} lost its coins`);
  assert.equal((await fetch(uploadUrl)).status, 200);
  return watchAll(`again-${(restarts += 1)}`);
}

async function createGame(
  { devFile, platform, repository, runTool }: System,
  name: string,
  server: string,
) {
  const program = platform.toNative(join(repository, 'create-trueward/index.js'));
  const args = [program, name, server, '--dev-file', platform.toNative(devFile)];
  await runTool(args, { cwd: platform.folder });
  return join(platform.folder, name);
}

async function createGameWithServer(system: System): Promise<string | undefined> {
  const game = await createGame(system, 'Zoës game', '--server');
  assert.match(readFileSync(join(game, '.env'), 'utf8'), /SECRET_KEY=sk_sandbox_/);
  const installed = join(game, 'node_modules/trueward');
  copyFolder(join(system.repository, 'dist'), join(installed, 'dist'));
  copyFileSync(join(system.repository, 'package.json'), join(installed, 'package.json'));
  return /pass \d+/.exec(await system.runTool(['--test'], { cwd: game }))?.[0];
}

async function createGameWithoutServer(system: System): Promise<undefined> {
  const game = await createGame(system, 'Zoës other game', '--no-server');
  assert.doesNotMatch(readFileSync(join(game, '.env'), 'utf8'), /sk_sandbox_/);
  assert(!existsSync(join(game, 'server')));
  return undefined;
}

async function migrateLongPath({ platform, runTool }: System): Promise<string> {
  const folder = join(platform.folder, ...Array.from({ length: 5 }, () => 'ü'.repeat(50)));
  const path = platform.toNative(folder);
  assert(path.length > 260);
  await runTool(['service/dist/main.js', 'migrate'], { env: { TRUEWARD_DATA_DIR: path } });
  return `${path.length} characters`;
}
