import { readFileSync } from 'node:fs';
import { childrenOf } from '../../../service/test/private-postgres.ts';

/** The kernel counts in hundredths of a second (USER_HZ), whatever the machine. */
const tickUs = 10_000;

/** Processor time in microseconds. */
export interface Usage {
  worker: number;
  producer: number;
  receiver: number;
  /** All processes of PostgreSQL. */
  postgres: number;
  /** Of these, the WAL writer, the checkpointer and the background writer. */
  postgresBackground: number;
  redis: number;
}

/** The processes whose time is taken. */
export interface Processes {
  worker: number;
  producer: number;
  receiver: number;
  postgres: number;
  redis: number | undefined;
}

/** What the processes have used so far. */
export function readUsage({ worker, producer, receiver, postgres, redis }: Processes): Usage {
  const sessions = childrenOf(postgres);
  const background = sessions.filter((pid) =>
    /checkpointer|background writer|walwriter/.test(read(pid, 'cmdline')),
  );
  const sum = (pids: readonly number[]) => pids.reduce((total, pid) => total + timeOf(pid), 0);
  return {
    worker: timeOf(worker),
    producer: timeOf(producer),
    receiver: timeOf(receiver),
    postgres: sum([postgres, ...sessions]),
    postgresBackground: sum(background),
    redis: redis === undefined ? 0 : timeOf(redis),
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

/** Of a process, and of its children that have ended: sessions of PostgreSQL come and go. */
function timeOf(pid: number): number {
  const stat = read(pid, 'stat');
  // The name, in brackets, may contain spaces: the fields are counted from behind it.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return [11, 12, 13, 14].reduce((sum, at) => sum + Number(fields[at] ?? 0), 0) * tickUs;
}

function read(pid: number, file: string): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8');
  } catch {
    // It is gone.
    return '';
  }
}
