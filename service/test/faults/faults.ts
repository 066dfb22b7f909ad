import { existsSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { listChildProcesses, type PrivatePostgres } from '../private-postgres.ts';
import type { Cluster } from './cluster.ts';
import type { TcpProxy } from './tcp-proxy.ts';

/** The parts of the test setup that faults affect. */
export interface FaultTargets {
  cluster: Cluster;
  postgres: PrivatePostgres;
  /** The proxy between the services and PostgreSQL. */
  proxy: TcpProxy;
  /** Whether PostgreSQL stores its data on a separate small disk that a fault can fill. */
  hasSmallDisk: boolean;
}

export interface Fault {
  name: string;
  /** Injects the fault, then removes it. If this machine doesn't support the fault, returns the reason. */
  run(targets: FaultTargets): Promise<string | undefined>;
}

const fakeTime = '/usr/lib/x86_64-linux-gnu/faketime/libfaketime.so.1';

const killService: Fault = {
  name: 'a service process is killed (SIGKILL) and replaced',
  async run({ cluster }) {
    await cluster.replace(1);
    return undefined;
  },
};

const killPostgres: Fault = {
  name: 'PostgreSQL is killed (SIGKILL to all of its processes) and restarted after two seconds',
  async run({ postgres }) {
    await postgres.kill();
    await sleep(2_000);
    await postgres.start();
    return undefined;
  },
};

const cutConnections: Fault = {
  name: 'all connections to PostgreSQL are reset, ten times in two seconds',
  async run({ proxy }) {
    for (let round = 0; round < 10; round += 1) {
      proxy.resetConnections();
      await sleep(200);
    }
    return undefined;
  },
};

const blackhole: Fault = {
  name: 'the network silently drops all traffic to PostgreSQL for eight seconds',
  async run({ proxy }) {
    proxy.stall();
    await sleep(8_000);
    proxy.restore();
    proxy.resetConnections();
    return undefined;
  },
};

const fillDisk: Fault = {
  name: 'PostgreSQL’s disk is full for four seconds',
  async run({ postgres, hasSmallDisk }) {
    if (!hasSmallDisk) return 'no small file system could be mounted';
    const ballast = join(postgres.folder, 'ballast');
    // Fill the disk to the last megabyte, and refill it repeatedly, because the server keeps freeing space.
    for (let round = 0; round < 20; round += 1) {
      for (const megabytes of [8, 1]) writeUntilFull(ballast, round, megabytes);
      await sleep(200);
    }
    for (const file of readdirSync(postgres.folder).filter((name) => name.startsWith('ballast')))
      rmSync(join(postgres.folder, file));
    // The server may have shut down because it ran out of space for its write-ahead log.
    if (!postgres.isAlive()) await postgres.start();
    return undefined;
  },
};

function writeUntilFull(path: string, round: number, megabytes: number): void {
  try {
    for (let index = 0; ; index += 1)
      writeFileSync(`${path}-${round}-${megabytes}-${index}`, Buffer.alloc(megabytes * 1_048_576));
  } catch {
    // The disk is full, as intended.
  }
}

const slowDisk: Fault = {
  name: 'PostgreSQL is paused for 400 ms out of every 500 ms for six seconds, as if its disk were stalling',
  async run({ postgres }) {
    const signal = (name: 'SIGSTOP' | 'SIGCONT'): void => {
      for (const pid of listChildProcesses(postgres.pid())) {
        try {
          process.kill(pid, name);
        } catch {
          // The session has exited.
        }
      }
    };
    for (let pause = 0; pause < 12; pause += 1) {
      signal('SIGSTOP');
      await sleep(400);
      signal('SIGCONT');
      await sleep(100);
    }
    return undefined;
  },
};

const skewClock: Fault = {
  name: 'one process’s clock runs 40 seconds ahead of the other’s, then 40 seconds behind',
  async run({ cluster }) {
    if (!existsSync(fakeTime)) return 'libfaketime is not installed';
    for (const FAKETIME of ['+40s', '-40s']) {
      await cluster.replace(1, {
        LD_PRELOAD: fakeTime,
        FAKETIME,
        FAKETIME_DONT_FAKE_MONOTONIC: '1',
      });
      await sleep(8_000);
    }
    await cluster.replace(1);
    return undefined;
  },
};

/**
 * The faults by name, as passed to `npm run faults:service`. Their order ensures that leases acquired during one fault
 * expire during a later one.
 */
export const faults = {
  killService,
  killPostgres,
  cutConnections,
  blackhole,
  fillDisk,
  slowDisk,
  skewClock,
};
