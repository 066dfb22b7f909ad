import { setTimeout as sleep } from 'node:timers/promises';
import type { Members, PatroniCluster } from './patroni.ts';

export interface Failure {
  name: string;
  /**
   * Injects the failure, then restarts the machines that it stopped. Patroni restarts PostgreSQL if only PostgreSQL was
   * killed.
   */
  run(cluster: PatroniCluster, members: Members): Promise<void>;
}

/** How long a machine stays down. This is longer than Patroni's `ttl`, after which a standby replaces the primary. */
const downtimeMs = 30_000;

const crash: Failure = {
  name: 'PostgreSQL on the primary is killed (SIGKILL); Patroni keeps running',
  async run(cluster, { primary }) {
    cluster.signal(primary, 'SIGKILL', 'postgres');
  },
};

const loss: Failure = {
  name: 'the primary’s machine is lost (SIGKILL to PostgreSQL and Patroni)',
  async run(cluster, { primary }) {
    cluster.signal(primary, 'SIGKILL', 'machine');
    await sleep(downtimeMs);
    cluster.start(primary);
  },
};

const switchover: Failure = {
  name: 'a planned switchover',
  run: (cluster, members) => cluster.switchOver(members),
};

const pause: Failure = {
  name: 'the primary’s machine stops responding for 30 s (SIGSTOP), and resumes after it has been replaced',
  async run(cluster, { primary }) {
    cluster.signal(primary, 'SIGSTOP', 'machine');
    await sleep(downtimeMs);
    cluster.signal(primary, 'SIGCONT', 'machine');
  },
};

const pauseStandby: Failure = {
  name: 'the synchronous standby’s machine stops responding for 30 s (SIGSTOP)',
  async run(cluster, { synchronousStandby }) {
    cluster.signal(synchronousStandby, 'SIGSTOP', 'machine');
    await sleep(downtimeMs);
    cluster.signal(synchronousStandby, 'SIGCONT', 'machine');
  },
};

const loseEtcd: Failure = {
  name: 'etcd is killed, and restarted after 30 s',
  async run(cluster) {
    await cluster.stopEtcd();
    await sleep(downtimeMs);
    cluster.startEtcd();
  },
};

/** The failures by name, as passed to `npm run failover:service`. */
export const failures = { crash, loss, switchover, pause, pauseStandby, loseEtcd };
