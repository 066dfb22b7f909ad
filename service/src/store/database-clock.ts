import {
  createSteadyClock,
  type Machine,
  machine,
  type Reading,
  ReadingError,
} from '../platform/steady-clock.ts';
import type { Clock } from '../platform/time.ts';
import type { Database } from './database.ts';

/** Thrown when the service can't start because it can't tell the time. The message says what to do. */
export class ClockError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'ClockError';
  }
}

/** The state of the service's clock, in milliseconds. */
export interface ClockState {
  /** How far the service's time is ahead of this machine's wall clock. */
  aheadOfMachineMs: number;
  /** How far the reference is ahead of the service's time, which approaches it slowly. */
  behindMs: number;
  /** The most by which the last measurement can be wrong by now. */
  uncertaintyMs: number;
}

/** The service's clock: follows the database's clock, or the wall clock if the database is embedded. */
export interface DatabaseClock extends Clock {
  confirm(): Promise<number>;
  state(): ClockState;
  stop(): void;
}

interface Deps {
  database: Pick<Database, 'query' | 'schema'>;
  /** Whether the database is embedded in this process. It then has no clock of its own. */
  embedded: boolean;
  log: { warn(details: object, text: string): void };
  /** This machine's clocks. Only tests replace them. */
  machine?: Machine;
}

/** How often the clock is measured. A process can be wrong about a failover for only this long. */
const intervalMs = 2_000;
const readingsAtStart = 5;
/** A greater difference between two measurements is logged. */
const maxDriftMs = 250;
/** A service whose machines differ by more than this doesn't start. The rest makes up for slow answers. */
const maxOffsetMs = 3_600_000 + 30_000;

/**
 * Creates the service's clock and keeps it measured until `stop` is called.
 *
 * In a Citus cluster, every process reads the coordinator's clock, provided that `DATABASE_ADMIN_URL` is set.
 *
 * @throws ClockError when the database's clock can't be read, or differs from this machine's by more than an hour.
 */
export async function openDatabaseClock({
  database,
  embedded,
  log,
  machine: clocks = machine,
}: Deps): Promise<DatabaseClock> {
  const read = embedded
    ? async () => readWallClock(clocks)
    : () => readDatabaseClock(database.schema ?? database, clocks);
  const first = await readFirst(read);
  // A wall clock that is set forward says nothing about real time, so an embedded service doesn't jump.
  const clock = start(clocks, first, !embedded);
  const aheadMs = clock.nowMs() - clocks.wallMs();
  if (Math.abs(aheadMs) > maxOffsetMs) {
    throw new ClockError(
      `The database's clock says ${formatTime(clock.nowMs())} and this machine's clock says ` +
        `${formatTime(clocks.wallMs())}: they may differ by at most an hour. Synchronize both machines with NTP, ` +
        'then start the service again.',
    );
  }

  const adjust = (reading: Reading): void => {
    const driftMs = clock.adjust(reading);
    if (Math.abs(driftMs) > maxDriftMs)
      log.warn(
        { driftMs: Math.round(driftMs), embedded },
        embedded
          ? "this machine's clock was changed; the service's time follows slowly"
          : "the database's clock and this machine's clock moved apart; the service's time follows slowly",
      );
  };
  let measuring: Promise<void> | undefined;
  const measure = (): Promise<void> =>
    (measuring ??= read()
      .then(adjust)
      .finally(() => (measuring = undefined)));
  const timer = setInterval(() => {
    measure().catch((error: unknown) => {
      // While the database is unavailable, the clock runs on, and its uncertainty grows.
      if (error instanceof ReadingError)
        log.warn({ err: error }, 'ignoring a reading of the clock');
    });
  }, intervalMs);
  timer.unref();

  return {
    ...clock,
    async confirm() {
      // A measurement that is under way may have read the clock before the call.
      await measuring?.catch(() => undefined);
      await measure();
      return embedded ? 0 : Math.abs(clock.behindMs()) + clock.uncertaintyMs();
    },
    state: () => ({
      aheadOfMachineMs: clock.nowMs() - clocks.wallMs(),
      behindMs: clock.behindMs(),
      uncertaintyMs: clock.uncertaintyMs(),
    }),
    stop: () => clearInterval(timer),
  };
}

const formatTime = (ms: number): string => new Date(ms).toISOString();

/** Takes several readings and returns the fastest, which is the most accurate. */
async function readFirst(read: () => Promise<Reading>): Promise<Reading> {
  const readings: Reading[] = [];
  try {
    for (let count = 0; count < readingsAtStart; count += 1) readings.push(await read());
  } catch (error) {
    const cause = error instanceof Error ? error.message : String(error);
    throw new ClockError(
      `The database's clock cannot be read: ${cause}. The service needs its time: check that the database user may ` +
        'call clock_timestamp().',
      { cause: error },
    );
  }
  const duration = ({ sentAtMs, receivedAtMs }: Reading): number => receivedAtMs - sentAtMs;
  const [fastest] = readings.toSorted((a, b) => duration(a) - duration(b));
  return fastest as Reading;
}

function start(
  clocks: Machine,
  first: Reading,
  catchesUp: boolean,
): ReturnType<typeof createSteadyClock> {
  try {
    return createSteadyClock(clocks, first, catchesUp);
  } catch (error) {
    if (!(error instanceof ReadingError)) throw error;
    throw new ClockError(
      `The service cannot tell the time: ${error.message}. Check the clocks of this machine and of the database.`,
      { cause: error },
    );
  }
}

function readWallClock(clocks: Machine): Reading {
  const atMs = clocks.monotonicMs();
  return { referenceMs: clocks.wallMs(), sentAtMs: atMs, receivedAtMs: atMs };
}

async function readDatabaseClock(
  database: Pick<Database, 'query'>,
  clocks: Machine,
): Promise<Reading> {
  const sentAtMs = clocks.monotonicMs();
  const [row] = await database.query<{ ms: number }>(
    'SELECT (extract(epoch FROM clock_timestamp()) * 1000)::float8 AS ms',
  );
  const receivedAtMs = clocks.monotonicMs();
  return { referenceMs: Number(row?.ms ?? NaN), sentAtMs, receivedAtMs };
}
