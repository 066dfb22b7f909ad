import type {
  AdEvent,
  Decision,
  DecisionRequest,
  EventBatchResult,
} from '../../../protocol/wire.ts';
import { type InProcessService, startInProcess } from '../../../service/test/in-process.ts';
import { createTestMachine, type Pause, type TestMachine } from '../../../service/test/machine.ts';
import { incrementConfigVersion } from '../../../service/src/store/config-version.ts';
import { openDatabaseClock } from '../../../service/src/store/database-clock.ts';
import { ownRows } from '../../../service/test/neighbor.ts';

/** Real time, in Unix milliseconds. Nothing in a test changes it. */
export const realMs = (): number => performance.timeOrigin + performance.now();

/** A process of the service, on a machine with its own clocks. */
export interface ClockedProcess {
  machine: TestMachine;
  running: InProcessService;
  /** Nothing runs on the machine for this long. Its clocks then show what happened. */
  pause(ms: number, kind: Pause): Promise<void>;
}

/** Processes of a service that share a database. */
export interface ClockWorld {
  processes: ClockedProcess[];
  /** Starts another process on a machine whose wall clock is off by `skewMs`. */
  add(skewMs: number): Promise<ClockedProcess>;
  /** Moves the database to a host whose clock is ahead of real time by this much. */
  failOver(aheadMs: number): void;
  decide(request: DecisionRequest): Promise<Decision & { token: string }>;
  /** Sends events, and sends them again while the service asks for it. */
  report(sentAt: string, events: AdEvent[]): Promise<EventBatchResult>;
  /** Counts the rewards by state and reason. */
  countRewards(): Promise<Record<string, number>>;
  stop(): Promise<void>;
}

/** The required watch time of an ad on the placement `double-coins`. */
export const quickAdMs = 1_000;

export async function createClockWorld(
  databaseUrl: string | undefined,
  skewsMs: readonly number[],
): Promise<ClockWorld> {
  let hostAheadMs = 0;
  let dataDirectory: string | undefined;
  const paused = new Map<ClockedProcess, Promise<void>>();
  const processes: ClockedProcess[] = [];
  const env = {
    RATE_LIMITS: 'off',
    PUBLIC_URL: 'http://service.test',
    ...(databaseUrl === undefined ? {} : { DATABASE_URL: databaseUrl }),
  };

  async function add(skewMs: number): Promise<ClockedProcess> {
    const machine = createTestMachine(realMs, skewMs);
    let awake = Promise.resolve();
    const running = await startInProcess(env, {
      ...(dataDirectory === undefined ? {} : { dataDirectory }),
      openClock: (database, log) =>
        openDatabaseClock({
          database: {
            async query<T>(text: string) {
              await awake;
              const rows = await database.query<{ ms: number }>(text);
              return rows.map(({ ms }) => ({ ms: ms + hostAheadMs })) as T[];
            },
          },
          embedded: databaseUrl === undefined,
          log,
          machine,
        }),
    });
    dataDirectory ??= databaseUrl === undefined ? undefined : running.config.dataDirectory;
    const process: ClockedProcess = {
      machine,
      running,
      async pause(ms, kind) {
        machine.hold();
        awake = new Promise((resolve) =>
          setTimeout(() => {
            machine.release(kind);
            resolve();
          }, ms),
        );
        paused.set(process, awake);
        await awake;
        paused.delete(process);
      },
    };
    processes.push(process);
    return process;
  }

  for (const skewMs of skewsMs) await add(skewMs);
  const [first] = processes;
  if (!first) throw new Error('The world needs a process.');
  await shortenAds(first.running);
  await Promise.all(processes.map(({ running }) => running.service.configuration.refresh()));

  const send = async <T>(path: string, body: object): Promise<T> => {
    for (let attempt = 1; ; attempt += 1) {
      const awakeProcesses = processes.filter((process) => !paused.has(process));
      const index = Math.floor(Math.random() * awakeProcesses.length);
      const { running } = awakeProcesses[index] ?? first;
      const response = await fetch(running.url + path, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${first.running.keys.sandbox.publishable}`,
          'user-agent': 'Player/1.0',
          'content-type': 'application/json',
        },
        body: JSON.stringify(body),
      });
      const reply = (await response.json()) as T;
      if (response.ok) return reply;
      if (response.status !== 503 || attempt === 60)
        throw new Error(`${path}: ${JSON.stringify(reply)}`);
      await new Promise((resolve) => setTimeout(resolve, 1_000));
    }
  };

  return {
    processes,
    add,
    failOver: (aheadMs) => (hostAheadMs = aheadMs),
    async decide(request) {
      const decision = await send<Decision>('/v1/decisions', request);
      if (decision.status !== 'filled' || decision.token === undefined)
        throw new Error(`Expected an ad, got ${JSON.stringify(decision)}`);
      return { ...decision, token: decision.token };
    },
    report: (sentAt, events) => send('/v1/events', { sent_at: sentAt, events }),
    async countRewards() {
      const rows = await first.running.service.database.query<{ name: string; count: number }>(
        `SELECT concat_ws(' ', CASE WHEN user_ref LIKE 'cheat%' THEN 'cheat' ELSE 'honest' END,
            reward_state, reward_reason) AS name, count(*)::bigint AS count
          FROM decisions WHERE status = 'filled' AND ${ownRows} GROUP BY 1 ORDER BY 1`,
      );
      return Object.fromEntries(rows.map(({ name, count }) => [name, count]));
    },
    async stop() {
      for (const { running } of processes.toReversed()) await running.stop();
    },
  };
}

/** Shortens the ads of a placement, so that many players can watch them. */
async function shortenAds({ service: { database } }: InProcessService): Promise<void> {
  const [account] = await database.query<{ account_id: string }>(
    `SELECT account_id FROM accounts WHERE name = 'Demo'`,
  );
  const accountId = account?.account_id ?? '';
  await database.query(
    `UPDATE resources SET document = document || $2::text::jsonb
      WHERE account_id = $1 AND kind = 'placement' AND document->>'name' = 'double-coins'`,
    [accountId, JSON.stringify({ min_view_ms: quickAdMs })],
  );
  await database.transaction((queries) => incrementConfigVersion(queries, accountId));
}
