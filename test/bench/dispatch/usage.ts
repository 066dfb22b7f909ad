import { readFileSync } from 'node:fs';
import { listChildProcesses } from '../../../service/test/private-postgres.ts';
import { cpuTimeUs, treeTimeUs } from '../service/cpu-time.ts';

/** CPU time in microseconds. */
export interface Usage {
  worker: number;
  producer: number;
  receiver: number;
  /** All PostgreSQL processes. */
  postgres: number;
  /** The part of `postgres` used by the WAL writer, the checkpointer and the background writer. */
  postgresBackground: number;
  redis: number;
}

/** The pids of the processes to measure. */
export interface Processes {
  worker: number;
  producer: number;
  receiver: number;
  postgres: number;
  redis: number | undefined;
}

/** Returns how much CPU time the processes have used so far. */
export function readUsage({ worker, producer, receiver, postgres, redis }: Processes): Usage {
  const sessions = listChildProcesses(postgres);
  return {
    worker: cpuTimeUs(worker),
    producer: cpuTimeUs(producer),
    receiver: cpuTimeUs(receiver),
    postgres: treeTimeUs(postgres, sessions),
    postgresBackground: sessions.filter(isBackground).reduce((sum, pid) => sum + cpuTimeUs(pid), 0),
    redis: redis === undefined ? 0 : treeTimeUs(redis, []),
  };
}

export const subtract = (after: Usage, before: Usage): Usage => ({
  worker: after.worker - before.worker,
  producer: after.producer - before.producer,
  receiver: after.receiver - before.receiver,
  postgres: after.postgres - before.postgres,
  postgresBackground: after.postgresBackground - before.postgresBackground,
  redis: after.redis - before.redis,
});

const background = /checkpointer|background writer|walwriter/;

/** Returns whether this is a background process. A PostgreSQL process's command line names its role. */
function isBackground(pid: number): boolean {
  try {
    return background.test(readFileSync(`/proc/${pid}/cmdline`, 'utf8'));
  } catch {
    // The process has exited.
    return false;
  }
}
