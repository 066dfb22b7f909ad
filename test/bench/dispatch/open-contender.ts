import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Webhook } from '../../../protocol/wire.ts';
import { openPostgres } from '../../../service/src/store/postgres.ts';
import type { PrivatePostgres } from '../../../service/test/private-postgres.ts';
import { startService } from '../../../service/test/start-service.ts';
import { createDatabase } from '../service/meter.ts';
import { type Child, startChild } from './child.ts';
import { type Contender, leaseS, type Setting } from './contenders.ts';
import { startPrivateRedis } from './redis.ts';

/** The process that delivers webhooks. */
export interface Worker {
  pid: number;
  /** Starts delivering. */
  start(): Promise<void>;
  /** Stops delivering once the requests in flight have finished. */
  pause(): Promise<void>;
  /** Kills the process (SIGKILL), as a crash would. */
  kill(): Promise<void>;
}

/** A contender that has been set up with fresh databases. */
export interface RunningContender {
  /** Writes causes and their deliveries, and counts unfinished deliveries. */
  producer: Child;
  /** The secret that the deliveries are signed with. */
  secret: string;
  redisPid: number | undefined;
  startWorker(isRestart: boolean): Promise<Worker>;
  close(): Promise<void>;
}

export interface Environment {
  postgres: PrivatePostgres;
  /** The receiver's URL. */
  url: string;
}

export const openContender = (
  contender: Contender,
  setting: Setting,
  environment: Environment,
): Promise<RunningContender> =>
  contender.name === 'ours' ? openOurs(environment) : openPeer(contender, setting, environment);

const peerSecret = `whsec_${Buffer.from('the same for every peer, 32 bytes').toString('base64')}`;

async function openPeer(
  { name }: Contender,
  setting: Setting,
  { postgres, url }: Environment,
): Promise<RunningContender> {
  const databaseUrl = await createDatabase(postgres);
  const redis = name === 'bullmq' ? await startPrivateRedis() : undefined;
  const file = `contenders/${name}.mjs`;
  const common = { databaseUrl, redisPort: redis?.port, leaseS };
  const producer = await startChild(file, 'openProducer', common);
  let worker: Child | undefined;
  return {
    producer,
    secret: peerSecret,
    redisPid: redis?.pid,
    async startWorker(isRestart) {
      const options = { ...common, url, secret: peerSecret, setting: setting.options, isRestart };
      const child = (worker = await startChild(file, 'openWorker', options));
      return {
        pid: child.pid,
        start: () => child.call('start'),
        pause: () => child.call('stop'),
        kill: child.kill,
      };
    },
    async close() {
      await worker?.kill();
      await producer.kill();
      await redis?.stop();
    },
  };
}

/** Starts the built service in a separate process. Until the worker starts, deliveries wait in an open transaction. */
async function openOurs({ postgres, url }: Environment): Promise<RunningContender> {
  const databaseUrl = await createDatabase(postgres);
  const folder = mkdtempSync(join(tmpdir(), 'trueward-bench-'));
  const launch = () => startService({ dataDir: folder, env: { DATABASE_URL: databaseUrl } });
  let service = await launch();
  // An interrupted run must not leave a service running.
  const killService = () => service.process.kill('SIGKILL');
  process.once('exit', killService);
  const call = async <T>(path: string, body: object): Promise<T> => {
    const response = await fetch(service.url + path, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${service.keys.sandbox.secret}`,
        'content-type': 'application/json',
      },
      body: JSON.stringify(body),
    });
    if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
    return (await response.json()) as T;
  };
  const events = ['decision.rewarded'];
  const webhook = await call<Webhook & { secret: string }>('/v1/webhooks', { url, events });
  const database = openPostgres(databaseUrl, (error) => console.error(error));
  const [scope] = await database.query(
    `SELECT account_id AS "accountId", environment FROM resources WHERE id = $1`,
    [webhook.id],
  );
  await database.close();
  const producer = await startChild('contenders/ours.ts', 'openProducer', {
    databaseUrl,
    scope,
    webhook,
  });
  return {
    producer,
    secret: webhook.secret,
    redisPid: undefined,
    async startWorker(isRestart) {
      if (isRestart) service = await launch();
      return {
        pid: service.process.pid ?? 0,
        async start() {
          // The service wakes its dispatcher when it writes an event itself. Here, a separate process writes the events,
          // so a test event has to wake the dispatcher.
          if (await producer.call<boolean>('release'))
            await call(`/v1/webhooks/${webhook.id}/test`, {});
        },
        pause: () => Promise.resolve(),
        kill: service.kill,
      };
    },
    async close() {
      await service.kill();
      process.off('exit', killService);
      await producer.kill();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
