import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { RewardStatus } from '@trueward/protocol/wire';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { copyMigratedDatabase } from '../empty-database.ts';
import { startInProcess } from '../in-process.ts';
import { startService } from '../start-service.ts';
import { createClient } from './client.ts';
import { run, runInProcess } from './command-line.ts';
import { startReceiver } from './receiver.ts';

/** Makes the service refuse what Windows refuses to flush. */
const windowsFlushes = {
  NODE_OPTIONS: `--import ${new URL('../windows-flushes.mjs', import.meta.url).href}`,
};

let dataDir: string;
beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), 'trueward-'));
});
afterEach(() => rmSync(dataDir, { recursive: true, force: true }));

test('acknowledged data and undelivered webhooks survive SIGKILL, also where little can be flushed', async () => {
  const receiver = await startReceiver((index) => (index === 0 ? 503 : 200));
  const firstService = await startService({ dataDir, testClock: true, env: windowsFlushes });
  const firstClient = createClient(firstService);
  await firstClient.call('POST', '/v1/webhooks', firstClient.secret, {
    url: receiver.url,
    events: ['decision.rewarded'],
  });
  const decision = await firstClient.decideImage('survivor');
  await firstClient.reportStart(decision);
  await firstService.moveClock({ advanceMs: 5_000 });
  const pendingDecisions = Array.from({ length: 40 }, (_, index) =>
    firstClient.decideImage(`burst-${index}`),
  );
  const { body } = await firstClient.report(
    firstClient.createImpression(decision),
    firstClient.createEvent(decision, 'complete', { watched_ms: 5_000 }),
  );
  expect(body.decisions).toMatchObject([{ state: 'earned' }]);
  const acknowledgedDecisions = await Promise.all(pendingDecisions);
  await firstService.kill();

  // Receipts contain the service's URL, so the second process must use the same port.
  const secondService = await startService({
    dataDir,
    env: { ...windowsFlushes, PORT: new URL(firstService.url).port },
  });
  expect(secondService.keys).toEqual(firstService.keys);
  const secondClient = createClient(secondService);
  const readDecision = (id: string) =>
    secondClient.call<RewardStatus>('GET', `/v1/decisions/${id}`, secondClient.secret);
  expect((await readDecision(decision.id)).body).toEqual(body.decisions[0]);
  const responses = await Promise.all(acknowledgedDecisions.map(({ id }) => readDecision(id)));
  expect(responses.map(({ status }) => status)).toEqual(responses.map(() => 200));
  const [rejectedRequest, deliveredRequest] = await receiver.waitForRequests(2);
  expect(deliveredRequest?.body).toBe(rejectedRequest?.body);
  expect(await secondService.stop()).toBe(0);
  await receiver.close();
});

test.each([
  ['its control file is damaged', 'global/pg_control', '\0'.repeat(8_192)],
  ['another version of PostgreSQL made it', 'PG_VERSION', '12\n'],
  ['a file of it can’t be flushed', 'unflushable', ''],
])(
  'a start ends with the error if the database does not open because %s',
  async (_name, file, text) => {
    await copyMigratedDatabase(join(dataDir, 'database'));
    writeFileSync(join(dataDir, 'database', file), text);
    const env = { TRUEWARD_DATA_DIR: dataDir, PORT: '0', ...windowsFlushes };
    const { code, err } = await run(['start'], env);
    expect([code, err]).toEqual([1, expect.stringMatching(/database in .* could not be opened/)]);
    expect(readdirSync(dataDir)).not.toContain('database.lock');
  },
);

test('a second service on the same data directory exits with an error', async () => {
  const firstService = await startInProcess({}, { dataDirectory: dataDir });
  await expect(startService({ dataDir })).rejects.toThrow(
    /exited with 1 .*in use by another running service/s,
  );
  const env = { TRUEWARD_DATA_DIR: dataDir, PORT: new URL(firstService.url).port };
  const { err } = await runInProcess(['keys', 'list'], env);
  expect(err).toContain('in use by another running service');
  expect(await runInProcess(['doctor'], env)).toMatchObject({
    code: 0,
    out: expect.stringMatching(
      /ok .*has the embedded database open[^]*ok .*a service is running/,
    ) as string,
  });
  expect((await fetch(`${firstService.url}/readyz`)).status).toBe(200);
  await firstService.stop();
});

test('a process keeps working after its log pipe is closed, and on SIGTERM completes pending requests within five seconds', async () => {
  const service = await startService({ dataDir, env: { LOG_LEVEL: 'debug' } });
  service.process.stderr?.destroy();
  for (let index = 0; index < 20; index += 1)
    expect((await fetch(`${service.url}/healthz`)).status).toBe(200);
  const client = createClient(service);
  const decision = await client.decideImage('waiting');
  const waitingRequest = client.call<RewardStatus>(
    'GET',
    `/v1/decisions/${decision.id}?wait_s=25`,
    client.secret,
  );
  await client.call('GET', '/healthz');
  // If stopping took more than five seconds, the exit code would be 1.
  expect(await service.stop()).toBe(0);
  expect((await waitingRequest).body).toMatchObject({ state: 'none' });
});

test('all configuration errors are reported in one message', async () => {
  const env = { PORT: '99999', TRUEWARD_MASTER_KEY: 'short', LOG_LEVEL: 'loud' };
  const { code, err } = await run(['start'], env);
  expect(code).toBe(1);
  expect(err).toMatch(/PORT .*TRUEWARD_MASTER_KEY .*LOG_LEVEL /s);
  expect(err).not.toContain('short');
});
