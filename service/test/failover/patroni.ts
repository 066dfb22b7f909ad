import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import getPort from 'get-port';
import { parseDocument } from 'yaml';
import {
  listChildProcesses,
  findPostgresFolder,
  findUnprivilegedUser,
} from '../private-postgres.ts';

/** Three PostgreSQL servers managed by Patroni, with etcd and HAProxy, configured as in `deploy/`. */
export interface PatroniCluster {
  /** A URL that goes through HAProxy, which routes connections to the primary. */
  proxyUrl: string;
  /** A URL that lists all three servers. */
  hostsUrl: string;
  /** Resolves when the primary has two streaming standbys, one of them synchronous. Rejects after two minutes. */
  waitUntilHealthy(): Promise<Members>;
  /** Sends a signal to all of a node's PostgreSQL processes and, if the scope is `machine`, also to Patroni. */
  signal(node: Node, signal: NodeJS.Signals, scope: 'postgres' | 'machine'): void;
  /** Restarts Patroni on a node that was killed. */
  start(node: Node): void;
  /** Promotes the synchronous standby to primary. */
  switchOver(members: Members): Promise<void>;
  /** Kills etcd. No node can become the primary while etcd is down. */
  stopEtcd(): Promise<void>;
  startEtcd(): void;
  stop(): Promise<void>;
}

export interface Node {
  name: string;
  port: number;
  /** Patroni's API port. */
  apiPort: number;
}

export interface Members {
  primary: Node;
  synchronousStandby: Node;
}

/** A rejoining node has to catch up first, which takes half a minute on a busy machine. */
const recoveryTimeoutMs = 120_000;

const getDeployedPath = (file: string): string =>
  fileURLToPath(new URL(`../../../deploy/high-availability/${file}`, import.meta.url));

/** Lists the programs that {@link startPatroni} requires but that are not installed. */
export const findMissingPrograms = (): string[] => [
  ...(findPostgresFolder() === undefined ? ['postgresql'] : []),
  ...['patroni', 'etcd', 'haproxy'].filter((name) => findProgram(name) === undefined),
];

/** Finds a program on the `PATH` or in `/usr/sbin`, where Debian installs HAProxy. */
function findProgram(program: string): string | undefined {
  const folders = [...(process.env['PATH'] ?? '').split(':'), '/usr/sbin', '/usr/bin'];
  return folders.map((folder) => join(folder, program)).find((path) => existsSync(path));
}

/** @throws Error if a program is missing. Call {@link findMissingPrograms} first. */
export async function startPatroni(): Promise<PatroniCluster> {
  const bin = findPostgresFolder();
  const identity = process.getuid?.() === 0 ? findUnprivilegedUser() : undefined;
  const folder = mkdtempSync(join(tmpdir(), 'trueward-patroni-'));
  if (identity) chownSync(folder, identity.uid, identity.gid);
  chmodSync(folder, 0o755);
  const port = () => getPort({ host: '127.0.0.1' });
  const etcd = { client: await port(), peer: await port() };
  const nodes: Node[] = [];
  for (const name of ['one', 'two', 'three'])
    nodes.push({ name, port: await port(), apiPort: await port() });
  const proxyPort = await port();
  const running = new Map<string, ChildProcess>();

  const startProcess = (
    id: string,
    program: string,
    args: string[],
    env: Record<string, string> = {},
  ) => {
    const child = spawn(findProgram(program) ?? program, args, {
      ...identity,
      cwd: folder,
      env: { PATH: process.env['PATH'] ?? '', HOME: folder, LC_ALL: 'C', ...env },
      stdio: ['ignore', 'ignore', process.env['FAILOVER_LOG'] ? 'inherit' : 'ignore'],
    });
    running.set(id, child);
  };
  const startEtcd = (): void => {
    const client = `http://127.0.0.1:${etcd.client}`;
    const peer = `http://127.0.0.1:${etcd.peer}`;
    const options = {
      'data-dir': join(folder, 'etcd'),
      name: 'etcd',
      logger: 'zap',
      'listen-client-urls': client,
      'advertise-client-urls': client,
      'listen-peer-urls': peer,
      'initial-advertise-peer-urls': peer,
      'initial-cluster': `etcd=${peer}`,
    };
    const args = Object.entries(options).map(([name, value]) => `--${name}=${value}`);
    startProcess('etcd', 'etcd', args);
  };
  const configuration = join(folder, 'patroni.yaml');
  writeFileSync(configuration, readConfiguration(folder));
  const start = (node: Node): void =>
    startProcess(node.name, 'patroni', [configuration], {
      PATRONI_NAME: node.name,
      PATRONI_ETCD3_HOSTS: `'127.0.0.1:${etcd.client}'`,
      PATRONI_RESTAPI_LISTEN: `127.0.0.1:${node.apiPort}`,
      PATRONI_RESTAPI_CONNECT_ADDRESS: `127.0.0.1:${node.apiPort}`,
      PATRONI_POSTGRESQL_LISTEN: `127.0.0.1:${node.port}`,
      PATRONI_POSTGRESQL_CONNECT_ADDRESS: `127.0.0.1:${node.port}`,
      PATRONI_POSTGRESQL_DATA_DIR: join(folder, node.name),
      PATRONI_POSTGRESQL_BIN_DIR: bin ?? '',
      PATRONI_POSTGRESQL_PGPASS: join(folder, `pgpass-${node.name}`),
      PATRONI_SUPERUSER_USERNAME: 'postgres',
      PATRONI_SUPERUSER_PASSWORD: 'postgres',
      PATRONI_REPLICATION_USERNAME: 'replicator',
      PATRONI_REPLICATION_PASSWORD: 'replicator',
    });
  const startProxy = (): void =>
    startProcess('haproxy', 'haproxy', ['-db', '-f', getDeployedPath('haproxy.cfg')], {
      BIND: `127.0.0.1:${proxyPort}`,
      ...Object.fromEntries(
        nodes.flatMap((node, index) => [
          [`NODE_${index + 1}`, `127.0.0.1:${node.port}`],
          [`PATRONI_${index + 1}`, String(node.apiPort)],
        ]),
      ),
    });

  const readPostmasterPid = ({ name }: Node): number | undefined => {
    const file = join(folder, name, 'postmaster.pid');
    return existsSync(file) ? Number(readFileSync(file, 'utf8').split('\n')[0]) : undefined;
  };
  const signal: PatroniCluster['signal'] = (node, name, scope) => {
    const postmaster = readPostmasterPid(node);
    const patroni = running.get(node.name)?.pid;
    const patroniTree = patroni === undefined ? [] : [patroni, ...listDescendants(patroni)];
    // Signal parents first, because they would otherwise restart their child processes.
    const pids = [
      ...(scope === 'machine' ? patroniTree.filter((pid) => pid !== postmaster) : []),
      ...(postmaster === undefined ? [] : [postmaster, ...listDescendants(postmaster)]),
    ];
    for (const pid of new Set(pids)) send(pid, name);
  };

  const end = (): void => {
    for (const node of nodes)
      for (const name of ['SIGKILL', 'SIGCONT'] as const) signal(node, name, 'machine');
    for (const child of running.values()) child.kill('SIGKILL');
  };
  process.once('exit', end);
  startEtcd();
  for (const node of nodes) start(node);
  startProxy();
  const api = async (node: Node, path: string, body?: object): Promise<Response> =>
    fetch(`http://127.0.0.1:${node.apiPort}${path}`, {
      signal: AbortSignal.timeout(body ? 60_000 : 2_000),
      ...(body ? { method: 'POST', body: JSON.stringify(body) } : {}),
    });
  /**
   * Returns the cluster members if this node is the primary and all members are healthy. Doesn't query standbys,
   * because they may still report the previous primary.
   */
  const readMembers = async (node: Node): Promise<Members | undefined> => {
    if (!(await api(node, '/primary')).ok) return undefined;
    return findMembers(await (await api(node, '/cluster')).text(), nodes);
  };
  return {
    proxyUrl: `postgres://postgres:postgres@127.0.0.1:${proxyPort}/postgres`,
    hostsUrl: `postgres://postgres:postgres@${nodes.map((node) => `127.0.0.1:${node.port}`).join(',')}/postgres`,
    async waitUntilHealthy() {
      const deadlineMs = performance.now() + recoveryTimeoutMs;
      while (performance.now() < deadlineMs) {
        for (const node of nodes) {
          const members = await readMembers(node).catch(() => undefined);
          if (members) return members;
        }
        await sleep(200);
      }
      throw new Error(
        `The cluster did not recover within ${recoveryTimeoutMs} ms (set FAILOVER_LOG=1 to see why).`,
      );
    },
    signal,
    start,
    async switchOver({ primary, synchronousStandby }) {
      const response = await api(primary, '/switchover', {
        leader: primary.name,
        candidate: synchronousStandby.name,
      });
      if (!response.ok) throw new Error(`switchover: ${response.status} ${await response.text()}`);
    },
    async stopEtcd() {
      const child = running.get('etcd');
      const exit = new Promise((resolve) => child?.once('exit', resolve));
      child?.kill('SIGKILL');
      await exit;
    },
    startEtcd,
    async stop() {
      process.off('exit', end);
      const exits = [...running.values()]
        .filter((child) => child.exitCode === null && child.signalCode === null)
        .map((child) => new Promise((resolve) => child.once('exit', resolve)));
      end();
      await Promise.all(exits);
      rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}

/** Returns the configuration from `deploy/`, with `folder` as its socket directory. */
function readConfiguration(folder: string): string {
  const document = parseDocument(readFileSync(getDeployedPath('patroni.yaml'), 'utf8'));
  document.setIn(['postgresql', 'parameters'], { unix_socket_directories: folder });
  return document.toString();
}

/** Returns the members if all three are running and one standby is synchronous. Otherwise, returns undefined. */
function findMembers(text: string, nodes: readonly Node[]): Members | undefined {
  interface Member {
    name: string;
    role: 'leader' | 'replica' | 'sync_standby';
    state: string;
    lag?: number | 'unknown';
  }
  const { members } = JSON.parse(text) as { members: Member[] };
  const isUp = ({ role, state, lag }: Member): boolean =>
    role === 'leader' ? state === 'running' : /^(running|streaming)$/.test(state) && lag === 0;
  const findNode = (role: Member['role']): Node | undefined => {
    const member = members.find((candidate) => candidate.role === role);
    return nodes.find(({ name }) => name === member?.name);
  };
  const [primary, synchronousStandby] = [findNode('leader'), findNode('sync_standby')];
  const isHealthy = members.length === nodes.length && members.every(isUp);
  return isHealthy && primary && synchronousStandby ? { primary, synchronousStandby } : undefined;
}

function listDescendants(pid: number): number[] {
  try {
    return listChildProcesses(pid).flatMap((child) => [child, ...listDescendants(child)]);
  } catch {
    return []; // The process has exited.
  }
}

function send(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // The process has already exited along with its parent.
  }
}

/** Returns each program's installed version. */
export function readVersions(): string {
  const read = (program: string, ...args: string[]): string =>
    /\d+\.[\d.]+/.exec(execFileSync(program, args, { encoding: 'utf8' }))?.[0] ?? '?';
  return [
    `PostgreSQL ${read(join(findPostgresFolder() ?? '', 'postgres'), '--version')}`,
    `Patroni ${read(findProgram('patroni') ?? '', '--version')}`,
    `etcd ${read(findProgram('etcd') ?? '', '--version')}`,
    `HAProxy ${read(findProgram('haproxy') ?? '', '-v')}`,
  ].join(', ');
}
