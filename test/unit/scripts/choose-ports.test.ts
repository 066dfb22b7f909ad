import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import getPort, { clearLockedPorts } from 'get-port';
import { afterEach, beforeEach, expect, onTestFinished, test } from 'vitest';
import { choosePorts as choose } from '../../../scripts/lib/choose-ports.mjs';

let folder: string;
let file: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'trueward-ports-'));
  file = join(folder, 'ports.json');
});
afterEach(() => rmSync(folder, { recursive: true }));

const host = '127.0.0.1';

/** Chooses as a new process would: get-port returns no port twice for a while. */
function choosePorts(...args: Parameters<typeof choose>): ReturnType<typeof choose> {
  clearLockedPorts();
  return choose(...args);
}

/** Two free ports, as if the last start had used them. */
async function startedBefore(): Promise<{ service: number; gameServer: number }> {
  const service = await getPort({ host });
  const ports = { service, gameServer: await getPort({ host, exclude: [service] }) };
  writeFileSync(file, JSON.stringify(ports));
  return ports;
}

async function occupy(): Promise<number> {
  const server = createServer().listen(0, host);
  onTestFinished(() => void server.close());
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}

const settings = [
  ['TRUEWARD_SERVICE_PORT', 'service'],
  ['TRUEWARD_GAME_PORT', 'gameServer'],
] as const;

test('a start uses the ports of the last one', async () => {
  const before = await startedBefore();
  expect(await choosePorts(file, {})).toEqual(before);
});

test.each(settings)('%s moves only the %s, also at later starts', async (setting, server) => {
  const before = await startedBefore();
  const chosen = await getPort({ host, exclude: Object.values(before) });
  const after = { ...before, [server]: chosen };
  expect(await choosePorts(file, { [setting]: String(chosen) })).toEqual(after);
  expect(JSON.parse(readFileSync(file, 'utf8'))).toEqual(after);
  expect(await choosePorts(file, { [setting]: '' })).toEqual(after);
});

test.each(settings)('%s is refused if its port is in use', async (setting) => {
  const before = await startedBefore();
  const port = await occupy();
  await expect(choosePorts(file, { [setting]: String(port) })).rejects.toThrow(
    `Port ${port} is in use. Stop the program that uses it, or set ${setting} to another port.`,
  );
  expect(JSON.parse(readFileSync(file, 'utf8'))).toEqual(before);
});

test.each(settings)('a port that nobody has chosen moves if it is in use', async (_, server) => {
  const before = await startedBefore();
  writeFileSync(file, JSON.stringify({ ...before, [server]: await occupy() }));
  const ports = await choosePorts(file, {});
  expect({ ...ports, [server]: 0 }).toEqual({ ...before, [server]: 0 });
  expect(ports[server]).toBeGreaterThan(0);
});

test('a server does not keep a port that was chosen for another one', async () => {
  const { service } = await startedBefore();
  const ports = await choosePorts(file, { TRUEWARD_GAME_PORT: String(service) });
  expect(ports.gameServer).toBe(service);
  expect(ports.service).not.toBe(service);
});

test('both settings can’t have the same port', async () => {
  const port = String(await getPort({ host }));
  const both = { TRUEWARD_SERVICE_PORT: port, TRUEWARD_GAME_PORT: port };
  await expect(choosePorts(file, both)).rejects.toThrow('set TRUEWARD_GAME_PORT to another port');
});

test.each(['0', '65536', '80.5', 'http', '-1'])('the port %s is refused', async (text) => {
  for (const [setting] of settings)
    await expect(choosePorts(file, { [setting]: text })).rejects.toThrow(
      `${setting} is ${text}, but must be a port from 1 to 65535.`,
    );
});
