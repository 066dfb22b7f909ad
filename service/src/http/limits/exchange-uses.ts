import { hmac } from '../../platform/hmac.ts';
import type { TokenBuckets } from './token-buckets.ts';
import type { Queries } from '../../store/database.ts';

/** How many requests a process let through since it began to tell, by a name that nobody else can read. */
export interface Use {
  name: string;
  uses: number;
}

/** Tells other processes of what was let through here, and takes in what was there. */
export interface UseExchange {
  /** What this process tells. */
  tell(): Use[];
  /** What the others have told, of the names that this process knows. */
  hear(processes: number, uses: readonly (Use & { processId: string })[]): void;
  /** The names that this process wants to hear of. */
  names(): string[];
}

/** So many rounds it is told again, in case that one of them failed. */
const toldRounds = 3;
/** After so many rounds without a use a name is forgotten. */
const keptRounds = 120;

interface Known {
  kind: string;
  name: string;
  uses: number;
  /** The sums that other processes had told before. */
  heard: Map<string, number>;
  round: number;
}

/**
 * Only names of which more than a quiet part was used are told, and only by their hash: they are
 * addresses and users. Sums and not differences, so that nothing is lost when a round fails.
 */
export function createUseExchange(
  buckets: Readonly<Record<string, TokenBuckets>>,
  key: string,
): UseExchange {
  const known = new Map<string, Known>();
  let round = 0;

  const remember = (kind: string, name: string, uses: number): void => {
    const hashed = hmac(key, `${kind}\n${name}`).slice(0, 22);
    const before = known.get(hashed);
    known.set(hashed, {
      kind,
      name,
      uses: (before?.uses ?? 0) + uses,
      heard: before?.heard ?? new Map<string, number>(),
      round,
    });
  };
  /** A process that began anew has told less than before. */
  const added = (before: number | undefined, uses: number): number =>
    before === undefined || uses < before ? uses : uses - before;

  return {
    tell() {
      round += 1;
      for (const [kind, each] of Object.entries(buckets))
        for (const [name, uses] of each.readUses()) remember(kind, name, uses);
      for (const [key, { round: last }] of known) if (round - last > keptRounds) known.delete(key);
      return [...known]
        .filter(([, each]) => round - each.round < toldRounds)
        .map(([name, { uses }]) => ({ name, uses }));
    },
    names: () => [...known.keys()],
    hear(processes, told) {
      for (const each of Object.values(buckets)) each.share(processes);
      for (const { processId, name, uses } of told) {
        const mine = known.get(name);
        if (!mine) continue;
        buckets[mine.kind]?.charge(mine.name, added(mine.heard.get(processId), uses));
        mine.heard.set(processId, uses);
      }
    },
  };
}

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
