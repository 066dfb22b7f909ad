import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { startService } from '../start-service.ts';
import { createClient } from './client.ts';

/** Mounts a 96 MB file system. Returns undefined if this user is not allowed to. */
function mountSmallDisk(): string | undefined {
  const folder = mkdtempSync(join(tmpdir(), 'trueward-disk-'));
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=96m', 'tmpfs', folder], { stdio: 'ignore' });
  } catch {
    rmSync(folder, { recursive: true });
    return undefined;
  }
  onTestFinished(() => {
    execFileSync('umount', ['--lazy', folder], { stdio: 'ignore' });
    rmSync(folder, { recursive: true });
  });
  return folder;
}

test('the service is not ready while the disk is full', async ({ skip }) => {
  const disk = mountSmallDisk();
  if (disk === undefined) return skip('This user is not allowed to mount a file system.');
  const service = await startService({ dataDir: join(disk, 'data'), env: { RATE_LIMITS: 'off' } });
  let log = '';
  service.process.stderr?.on('data', (chunk: Buffer) => (log += chunk.toString()));
  const client = createClient(service);
  const decide = async (player: number) =>
    (
      await client.decide({
        placement: 'revive',
        user_ref: `player ${player}`,
        custom_data: 'x'.repeat(900),
      })
    ).status;
  const readStatus = async () => (await fetch(`${service.url}/readyz`)).status;

  const filler = join(disk, 'filler');
  try {
    writeFileSync(filler, Buffer.alloc(96_000_000));
  } catch {
    // The disk is full.
  }
  let status = 200;
  for (let player = 0; status === 200 && player < 2_000; player += 1) status = await decide(player);
  expect(status).toBe(503);
  const statuses = await Promise.all(Array.from({ length: 20 }, (_, player) => decide(player)));
  expect(new Set(statuses)).toEqual(new Set([503]));
  expect(await readStatus()).toBe(503);
  expect((await fetch(`${service.url}/healthz`)).status).toBe(200);

  rmSync(filler);
  // A load balancer sends no requests to a process that is not ready, so the test sends none either.
  await expect.poll(readStatus).toBe(200);
  expect(await decide(0)).toBe(200);
  await service.stop();
  const lines = log.trim().split('\n');
  expect(lines.map((line) => (JSON.parse(line) as { msg: string }).msg)).toEqual([
    'the database disk is full; rejecting writes',
    'the database disk has free space again',
  ]);
});
