import { strict as assert } from 'node:assert';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { createClient } from '../../service/test/http/client.ts';
import type { Platform, Running } from './platform.ts';

interface DevFile {
  serviceUrl: string;
  gameServerUrl: string;
  keys: Parameters<typeof createClient>[0]['keys'];
}

const watchers = 20;
const startTimeoutMs = 900_000;

/** The whole system in one copy of the repository: what `npm start` runs, and what its commands run on. */
export function createSystem(platform: Platform, repository: string) {
  const dataFolder = join(repository, '.trueward');
  const devFile = join(dataFolder, 'dev.json');
  let running: Running | undefined;
  let devNow: DevFile | undefined;

  const dev = (): DevFile => {
    assert(devNow !== undefined, 'nothing has been started');
    return devNow;
  };
  const runStart = (): Running => platform.start(['scripts/start.mjs'], { cwd: repository });

  async function countCoins(player: string): Promise<number> {
    const response = await fetch(`${dev().gameServerUrl}/players/${player}`);
    return ((await response.json()) as { coins: number }).coins;
  }

  async function watch(player: string): Promise<void> {
    const client = createClient({ url: dev().serviceUrl, keys: dev().keys });
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
  }

  return {
    platform,
    repository,
    dataFolder,
    devFile,
    dev,
    watchers,
    runStart,
    countCoins,
    watch,
    output: () => running?.output() ?? '',
    /** Starts everything, and waits until it is ready. */
    async startEverything(): Promise<undefined> {
      rmSync(devFile, { force: true });
      const started = (running = runStart());
      const exit = started.exit.then((code) => {
        throw new Error(`The start ended with ${code}:\n${started.output()}`);
      });
      await Promise.race([exit, waitForFile(devFile, started)]);
      devNow = JSON.parse(readFileSync(devFile, 'utf8')) as DevFile;
      return undefined;
    },
    /** Lets players watch an ad each, until webhooks have credited their rewards. */
    async watchAll(prefix: string): Promise<string> {
      const players = Array.from({ length: watchers }, (_, index) => `${prefix}-${index}`);
      await Promise.all(players.map(watch));
      return `${watchers} of ${watchers} credited`;
    },
    /** Runs a program to its end, and returns what it has printed. */
    async runTool(
      args: string[],
      { cwd = repository, code = 0, env = {} }: ToolOptions = {},
    ): Promise<string> {
      const ownEnv = { TRUEWARD_DATA_DIR: platform.toNative(dataFolder), PORT: '0', ...env };
      const tool = platform.start(args, { cwd, env: ownEnv });
      const received = await tool.exit;
      assert.equal(received, code, `${args.join(' ')} ended with ${received}:\n${tool.output()}`);
      return tool.output();
    },
  };
}

export type System = ReturnType<typeof createSystem>;

interface ToolOptions {
  cwd?: string;
  /** The expected exit code. */
  code?: number;
  env?: Record<string, string>;
}

async function waitForFile(file: string, { output }: Running): Promise<void> {
  for (let waitedMs = 0; !existsSync(file); waitedMs += 250) {
    assert(waitedMs < startTimeoutMs, `Not ready:\n${output()}`);
    await sleep(250);
  }
}
