import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync, watch, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, inject, onTestFinished, test } from 'vitest';
import { copyEmptyDatabase } from '../../service/test/empty-database.ts';

const root = join(import.meta.dirname, '..', '..');
let dataDirectory: string;
let devFile: string;
let starts: ReturnType<typeof start>[];

beforeEach(async () => {
  dataDirectory = mkdtempSync(join(tmpdir(), 'trueward-start-'));
  // Copies an empty database, because creating one takes seconds.
  await copyEmptyDatabase(join(dataDirectory, 'database'));
  devFile = join(dataDirectory, 'dev.json');
  starts = [];
});
afterEach(async () => {
  for (const { process: child, exit } of starts) {
    child.kill('SIGTERM');
    await exit;
  }
  rmSync(dataDirectory, { recursive: true });
});

interface ProcessExit {
  code: number | null;
  output: string;
}

/**
 * Starts Trueward. `ready` resolves to the contents of dev.json, or rejects with the output. `exit` resolves when all
 * processes that write to the same output have exited.
 */
function start(
  program = process.execPath,
  args = ['scripts/start.mjs'],
): {
  process: ChildProcess;
  ready: Promise<DevFile>;
  exit: Promise<ProcessExit>;
} {
  const child = spawn(program, args, {
    cwd: root,
    env: { ...process.env, TRUEWARD_DATA_DIR: dataDirectory, TRUEWARD_NO_OPEN: '1' },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (output += chunk.toString()));
  const exit = new Promise<ProcessExit>((resolve) => {
    child.once('close', (code) => resolve({ code, output }));
  });
  const ready = new Promise<DevFile>((resolve, reject) => {
    const watcher = watch(dataDirectory, () => {
      if (existsSync(devFile)) resolve(JSON.parse(readFileSync(devFile, 'utf8')) as DevFile);
    });
    void exit.then((result) => reject(new Error(result.output)));
    child.once('close', () => watcher.close());
  });
  // Prevents an unhandled rejection, because not every test waits for this promise.
  ready.catch(() => undefined);
  const startedProcess = { process: child, ready, exit };
  starts.push(startedProcess);
  return startedProcess;
}

interface DevFile {
  serviceUrl: string;
  panelUrl: string;
  demoUrl: string;
  gameServerUrl: string;
  keys: Record<'sandbox' | 'live', { publishable: string; secret: string }>;
}

async function stop(startedProcess: ReturnType<typeof start>): Promise<number | null> {
  startedProcess.process.kill('SIGTERM');
  return (await startedProcess.exit).code;
}

test('rejects a second start with the same data directory, and stops when it is asked to', async () => {
  const otherServer = createServer().listen(0, '127.0.0.1');
  await once(otherServer, 'listening');
  onTestFinished(() => void otherServer.close());
  const usedPort = (otherServer.address() as AddressInfo).port;
  // Simulates an earlier start, which would have written this file.
  writeFileSync(join(dataDirectory, 'ports.json'), JSON.stringify({ service: usedPort }));
  const firstStart = start();
  const dev = await firstStart.ready;
  expect(dev).toEqual({
    serviceUrl: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+$/),
    panelUrl: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+\/panel\/$/),
    demoUrl: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+$/),
    gameServerUrl: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+$/),
    keys: {
      sandbox: {
        publishable: expect.stringMatching(/^pk_sandbox_/),
        secret: expect.stringMatching(/^sk_sandbox_/),
      },
      live: {
        publishable: expect.stringMatching(/^pk_live_/),
        secret: expect.stringMatching(/^sk_live_/),
      },
    },
  });
  expect(Number(new URL(dev.serviceUrl).port)).not.toBe(usedPort);
  const authorization = `Bearer ${dev.keys.sandbox.secret}`;
  const fetchPlacements = () =>
    fetch(`${dev.serviceUrl}/v1/placements`, { headers: { authorization } });
  expect((await fetchPlacements()).status).toBe(200);
  expect(await (await fetch(dev.demoUrl)).text()).toContain('<!doctype html>');

  const secondStart = await start().exit;
  expect(secondStart.code).toBe(1);
  expect(secondStart.output).toContain(
    `Trueward is already running with this data directory (process ${firstStart.process.pid}`,
  );
  expect((await fetchPlacements()).status).toBe(200);
  expect(JSON.parse(readFileSync(devFile, 'utf8'))).toEqual(dev);

  expect(await stop(firstStart)).toBe(0);
  expect((await firstStart.exit).output).toContain(`${dev.panelUrl}#/setup?token=`);
  expect(existsSync(devFile)).toBe(false);
  await expect(fetchPlacements()).rejects.toThrow();
});

test.runIf(inject('full'))(
  '`npm start` stops every process when npm receives SIGTERM',
  async () => {
    const firstStart = start('npm', ['start']);
    const dev = await firstStart.ready;
    await stop(firstStart);
    for (const url of [dev.serviceUrl, dev.demoUrl]) await expect(fetch(url)).rejects.toThrow();
  },
);

test('restarting after a SIGKILL keeps the data and stops the orphaned processes', async () => {
  const firstStart = start();
  const dev = await firstStart.ready;
  const exitEvent = once(firstStart.process, 'exit');
  firstStart.process.kill('SIGKILL');
  await exitEvent;
  rmSync(devFile);
  const secondStart = start();
  const { gameServerUrl, keys } = await secondStart.ready;
  expect(keys).toEqual(dev.keys);

  const lock = JSON.parse(readFileSync(join(dataDirectory, 'start.lock'), 'utf8')) as {
    children: { pid: number }[];
  };
  process.kill(lock.children[0]?.pid ?? 0, 'SIGKILL');
  const { code, output } = await secondStart.exit;
  expect(code).toBe(1);
  expect(output).toContain('service exited (SIGKILL)');
  await expect(fetch(gameServerUrl)).rejects.toThrow();
});
