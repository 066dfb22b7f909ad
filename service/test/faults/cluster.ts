import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import getPort from 'get-port';
import type { ClockMove } from '../../src/program/development/test-clock.ts';
import type { Clock } from '../../src/platform/time.ts';
import type { DevelopmentKeys } from '../../src/program/development/seed.ts';
import { type RunningService, startService } from '../start-service.ts';

/** Several service processes that share one database, as in production. */
export interface Cluster {
  /** The base URLs. A replacement process gets the same URL. */
  urls: readonly string[];
  keys: DevelopmentKeys;
  service(index: number): RunningService;
  /** Kills a process and starts another one in its place. */
  replace(index: number, env?: Record<string, string>): Promise<void>;
  /**
   * Gracefully shuts down a process and starts another build of the service in its place. Default: this working tree's
   * build.
   */
  roll(index: number, main?: string): Promise<void>;
  /** The first process's clock. The clocks of all processes agree until one of the processes is replaced. */
  clock: Clock;
  /** Moves every process's clock. */
  moveClock(move: ClockMove): Promise<void>;
  stop(): Promise<(number | null)[]>;
}

interface Options {
  /** One URL for all processes, or a URL for each process. */
  databaseUrl: string | readonly string[];
  processes: number;
  env?: Record<string, string>;
  /** The path to another build's `main.js`. Default: this working tree's build. */
  main?: string;
  /** Runs the processes with test clocks, which {@link Cluster.moveClock} advances. */
  testClock?: boolean;
}

export async function startCluster({
  databaseUrl,
  processes,
  env = {},
  main,
  testClock = false,
}: Options): Promise<Cluster> {
  const dataDir = mkdtempSync(join(tmpdir(), 'trueward-cluster-'));
  const ports = await Promise.all(
    Array.from({ length: processes }, () => getPort({ host: '127.0.0.1' })),
  );
  const databaseUrls = [databaseUrl].flat();
  const start = (index: number, envOverrides: Record<string, string> = {}, build?: string) =>
    startService({
      dataDir,
      ...(build === undefined ? {} : { main: build }),
      testClock,
      env: {
        DATABASE_URL: databaseUrls[index % databaseUrls.length] ?? '',
        DATABASE_TIMEOUT_S: '4',
        RATE_LIMITS: 'off',
        PORT: String(ports[index]),
        // Without this setting, each process would use its own URL in media URLs.
        PUBLIC_URL: 'http://cluster.test',
        ...env,
        ...envOverrides,
      },
    });
  const services: RunningService[] = [];
  // The first process creates the demo account, so the processes start one after another.
  for (const index of ports.keys()) services.push(await start(index, {}, main));
  const service = (index: number): RunningService => {
    const service = services[index];
    if (!service) throw new Error(`There is no process ${index}.`);
    return service;
  };
  return {
    urls: ports.map((port) => `http://127.0.0.1:${port}`),
    keys: service(0).keys,
    service,
    clock: service(0).clock,
    async moveClock(move) {
      await Promise.all(services.map((running) => running.moveClock(move)));
    },
    async replace(index, envOverrides) {
      await service(index).kill();
      services[index] = await start(index, envOverrides);
    },
    async roll(index, build) {
      await service(index).stop();
      services[index] = await start(index, {}, build);
    },
    async stop() {
      const codes = await Promise.all(services.map((running) => running.stop()));
      rmSync(dataDir, { recursive: true, force: true });
      return codes;
    },
  };
}
