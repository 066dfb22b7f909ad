import type { Database, Queries, Row, TransactionOptions } from './database.ts';
import { DatabaseAwayError, isAway } from './is-unavailable.ts';

interface Notices {
  /** It stopped answering; until {@link Notices.onBack} everything that asks it is refused at once. */
  onAway(error: unknown): void;
  onBack(awayMs: number): void;
}

const probeEveryMs = 500;

/**
 * Refuses at once, with {@link DatabaseAwayError}, while the server is away: otherwise each request
 * would wait for its time-out, and the queue in front of the database would fill with the dead. One
 * question twice a second finds out when it is back.
 */
export function failFast(database: Database, { onAway, onBack }: Notices): Database {
  let away: { sinceMs: number; error: unknown } | undefined;
  let timer: NodeJS.Timeout | undefined;
  let closed = false;

  const probe = (): void => {
    database.query('SELECT 1').then(
      () => {
        if (away && !closed) onBack(performance.now() - away.sinceMs);
        away = undefined;
      },
      () => {
        if (!closed) timer = setTimeout(probe, probeEveryMs);
      },
    );
  };
  const guard = async <T>(ask: () => Promise<T>): Promise<T> => {
    if (away) throw new DatabaseAwayError(away.error);
    try {
      return await ask();
    } catch (error) {
      if (isAway(error) && !away && !closed) {
        away = { sinceMs: performance.now(), error };
        onAway(error);
        probe();
      }
      throw error;
    }
  };

  return {
    ...database,
    query: <T = Row>(text: string, params?: readonly unknown[]) =>
      guard(() => database.query<T>(text, params)),
    execute: <T = Row>(text: string, params: readonly (string | Buffer)[]) =>
      guard(() => database.execute<T>(text, params)),
    transaction: <T>(work: (queries: Queries) => Promise<T>, options?: TransactionOptions) =>
      guard(() => database.transaction(work, options)),
    close() {
      closed = true;
      clearTimeout(timer);
      return database.close();
    },
  };
}
