import type { Queries } from '../../store/database.ts';
import type { Use } from './exchange-uses.ts';

/** Where processes tell each other of their uses. */
export interface UseStore {
  /** Writes what this process tells, and that it lives. */
  write(uses: readonly Use[]): Promise<void>;
  /** How many processes live, this one included, and what the others told of these names of late. */
  read(names: readonly string[]): Promise<{
    processes: number;
    uses: (Use & { processId: string })[];
  }>;
  /** This process lives no longer. */
  remove(): Promise<void>;
}

/** A process that has told nothing for so long is taken to be gone. */
const goneAfter = `interval '5 seconds'`;
/** The name that only says that the process lives. */
const alive = '';

/** Once in so many writes what is of no use any more is removed. */
const tidyEvery = 60;

export function createUseStore(queries: Queries, processId: string): UseStore {
  let writes = 0;
  return {
    async write(uses) {
      writes += 1;
      if (writes % tidyEvery === 0) {
        await queries.query(
          `DELETE FROM limit_uses WHERE account_id = 'service' AND process_id = $1 AND seen_at < now() - ${goneAfter}`,
          [processId],
        );
      }
      await queries.query(
        `INSERT INTO limit_uses (account_id, process_id, name, uses, seen_at)
          SELECT 'service', $1, name, uses, now() FROM jsonb_to_recordset($2::text::jsonb) AS row(name text, uses bigint)
          ON CONFLICT (account_id, process_id, name) DO UPDATE SET uses = excluded.uses, seen_at = now()`,
        [processId, JSON.stringify([...uses, { name: alive, uses: 0 }])],
      );
    },
    async read(names) {
      const rows = await queries.query<Use & { processId: string }>(
        `SELECT process_id AS "processId", name, uses FROM limit_uses
          WHERE account_id = 'service' AND process_id <> $1 AND seen_at > now() - ${goneAfter}
            AND name IN (SELECT jsonb_array_elements_text($2::text::jsonb))`,
        [processId, JSON.stringify([...names, alive])],
      );
      return {
        processes: 1 + rows.filter(({ name }) => name === alive).length,
        uses: rows.filter(({ name }) => name !== alive),
      };
    },
    async remove() {
      await queries.query(
        `DELETE FROM limit_uses WHERE account_id = 'service' AND process_id = $1`,
        [processId],
      );
    },
  };
}
