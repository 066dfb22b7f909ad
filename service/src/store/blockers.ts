import type { Queries } from './database.ts';

const selectBlockers = `SELECT pid, application_name AS name, coalesce(state, 'state unknown') AS state, coalesce(query, '?') AS query,
    coalesce(to_char(xact_start AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"'), '?') AS since
  FROM pg_stat_activity WHERE pid = ANY (pg_blocking_pids($1)) ORDER BY xact_start`;

interface Blocker {
  pid: number;
  name: string;
  state: string;
  query: string;
  since: string;
}

/** Describes the sessions that block the session `pid`, so that an operator can terminate them. */
export async function describeBlockers(
  queries: Pick<Queries, 'query'>,
  pid: number | undefined,
): Promise<string> {
  const blockers = await queries.query<Blocker>(selectBlockers, [pid]);
  const descriptions = blockers.map(
    ({ pid: blockerPid, name, state, query, since }) =>
      `session ${blockerPid} (${name || 'unnamed'}, ${state} since ${since}: ${query.replaceAll(/\s+/g, ' ').slice(0, 100)})`,
  );
  return descriptions.length > 0 ? descriptions.join(', ') : 'a session that has ended since';
}
