import { strict as assert } from 'node:assert';
import { cpSync, existsSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { createClient } from '../../service/test/http/client.ts';
import { createPanelClient } from '../../service/test/http/panel-client.ts';
import type { Platform } from './platform.ts';

interface DevFile {
  serviceUrl: string;
  gameServerUrl: string;
  demoUrl: string;
  panelUrl: string;
  keys: Parameters<typeof createClient>[0]['keys'];
}

const watchers = 20;
const startTimeoutMs = 900_000;

type Step = [name: string, run: () => Promise<string | undefined>];

/** The steps, in order. */
export function steps({
  platform,
  repository,
}: {
  platform: Platform;
  repository: string;
}): Step[] {
  const dataFolder = join(repository, '.trueward');
  const devFile = join(dataFolder, 'dev.json');
  let running: ReturnType<Platform['start']>;
  let dev: DevFile;

  const waitForStart = async (): Promise<void> => {
    const exit = running.exit.then((code) => {
      throw new Error(`The start ended with ${code}:\n${running.output()}`);
    });
    const ready = (async () => {
      for (let waitedMs = 0; !existsSync(devFile); waitedMs += 250) {
        if (waitedMs > startTimeoutMs) throw new Error(`Not ready:\n${running.output()}`);
        await sleep(250);
      }
    })();
    await Promise.race([ready, exit]);
    dev = JSON.parse(readFileSync(devFile, 'utf8')) as DevFile;
  };
  const startEverything = async (): Promise<undefined> => {
    running = platform.start(['scripts/start.mjs'], { cwd: repository });
    await waitForStart();
  };
  const countCoins = async (player: string): Promise<number> =>
    ((await (await fetch(`${dev.gameServerUrl}/players/${player}`)).json()) as { coins: number })
      .coins;

  const watch = async (player: string): Promise<void> => {
    const client = createClient({ url: dev.serviceUrl, keys: dev.keys });
    const decision = await client.decideImage(player);
    await client.reportStart(decision);
    await sleep(5_500);
    await client.report(
      client.createImpression(decision),
      client.createEvent(decision, 'complete', { watched_ms: 5_500 }),
    );
    for (let waitedMs = 0; (await countCoins(player)) === 0; waitedMs += 200) {
      assert(waitedMs < 30_000, `${player}: no webhook has credited the reward`);
      await sleep(200);
    }
  };
  const watchAll = async (prefix: string): Promise<string> => {
    await Promise.all(Array.from({ length: watchers }, (_, index) => watch(`${prefix}-${index}`)));
    return `${watchers} of ${watchers} credited`;
  };
  const runTool = async (args: string[], cwd = repository): Promise<string> => {
    const env = { TRUEWARD_DATA_DIR: platform.toNative(dataFolder), PORT: '0' };
    const tool = platform.start(args, { cwd, env });
    const code = await tool.exit;
    assert.equal(code, 0, `${args.join(' ')} ended with ${code}:\n${tool.output()}`);
    return tool.output();
  };

  return [
    ['npm start, for the first time', startEverything],
    ['honest watches, credited by webhook', () => watchAll('first')],
    [
      'a second start is refused',
      async () => {
        const second = platform.start(['scripts/start.mjs'], { cwd: repository });
        assert.equal(await second.exit, 1);
        assert.match(second.output(), /already running with this data directory/);
        return undefined;
      },
    ],
    [
      'an upload whose name Windows forbids',
      async () => {
        const token = /setup\?token=(\S+)/.exec(running.output())?.[1] ?? '';
        const panel = createPanelClient(dev.serviceUrl);
        assert.equal((await panel.setUp(token, 'zoe@example.com')).status, 201);
        const file = new Blob([readFileSync(join(repository, 'test/media/picture.png'))]);
        const path = `/panel/api/media?name=${encodeURIComponent('aux:con<2>?.png ')}`;
        const { status, body } = await panel.send<{ url: string }>('POST', path, file, {
          'content-type': 'image/png',
        });
        assert.equal(status, 201, JSON.stringify(body));
        assert.equal((await fetch(body.url)).status, 200);
        for (const name of ['..%5Cmaster.key', 'con.png', 'a:b.png', `${'a'.repeat(300)}.png`])
          assert.equal((await fetch(`${dev.serviceUrl}/media/${name}`)).status, 404, name);
        return undefined;
      },
    ],
    [
      'a start after the machine crashed keeps everything',
      async () => {
        const { keys } = dev;
        await platform.crash();
        rmSync(devFile, { force: true });
        await startEverything();
        assert.deepEqual(dev.keys, keys);
        for (let index = 0; index < watchers; index += 1)
          assert.notEqual(await countCoins(`first-${index}`), 0, `first-${index} lost its coins`);
        return watchAll('second');
      },
    ],
    [
      'npm create trueward',
      async () => {
        const args = [
          platform.toNative(join(repository, 'create-trueward/index.js')),
          'Zoës game',
          '--dev-file',
        ];
        await runTool([...args, platform.toNative(devFile)], platform.folder);
        const game = join(platform.folder, 'Zoës game');
        assert.match(readFileSync(join(game, '.env'), 'utf8'), /SECRET_KEY=sk_sandbox_/);
        for (const part of ['dist', 'package.json'])
          cpSync(join(repository, part), join(game, 'node_modules/trueward', part), {
            recursive: true,
          });
        return /pass \d+/.exec(await runTool(['--test'], game))?.[0];
      },
    ],
    [
      'the commands of trueward-service',
      async () => {
        await platform.crash();
        const main = 'service/dist/main.js';
        const doctor = await runTool([main, 'doctor']);
        assert.doesNotMatch(doctor, /chmod/);
        await runTool([main, 'config']);
        await runTool([main, 'migrate']);
        await runTool([main, 'keys', 'list']);
        await runTool([main, 'master-key', 'rotate']);
        await runTool([main, 'receipt-keys', 'rotate']);
        await runTool([
          main,
          'archive',
          '--before',
          '2099-01-01',
          '--to',
          platform.toNative(join(platform.folder, 'Archiv ü')),
        ]);
        return `${readdirSync(join(platform.folder, 'Archiv ü')).length} archive files`;
      },
    ],
    [
      'a start in a path of 300 characters',
      async () => {
        const folder = join(platform.folder, ...Array.from({ length: 5 }, () => 'ü'.repeat(50)));
        const args = ['service/dist/main.js', 'migrate'];
        const env = { TRUEWARD_DATA_DIR: platform.toNative(folder) };
        const tool = platform.start(args, { cwd: repository, env });
        assert.equal(await tool.exit, 0, tool.output());
        return `${platform.toNative(folder).length} characters`;
      },
    ],
  ];
}
