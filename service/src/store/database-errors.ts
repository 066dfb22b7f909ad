import type { Queries } from './database.ts';

/** SQLSTATEs for a server that can't be reached or is shutting down: connection exception, operator intervention. */
const unreachableStates = /^(08|57P)/;
/**
 * SQLSTATEs for a server that can't execute a statement right now: insufficient resources (such as a full disk), a
 * canceled or timed-out statement, a lock timeout, a serialization failure, a deadlock, or a read-only standby.
 */
const temporaryStates = /^(53|57014|55P03|40001|40P01|25006)/;
const diskFullState = '53100';
const readOnlyState = '25006';
const lockTimeoutState = '55P03';
const connectionErrors = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EPIPE',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'ENETUNREACH',
]);

/** Thrown when the database is unreachable. Until it recovers, calls fail immediately. */
export class DatabaseUnreachableError extends Error {
  constructor(cause: unknown) {
    super('The database is unreachable.', { cause });
    this.name = 'DatabaseUnreachableError';
  }
}

/** Thrown when a write was committed only on the primary, because the wait for a synchronous standby was canceled. */
export class NotReplicatedError extends Error {
  constructor() {
    super('The commit has not been confirmed by a synchronous standby.');
    this.name = 'NotReplicatedError';
  }
}

/** Thrown when all connections for reads or maintenance jobs have been in use for too long. */
export class ConnectionsBusyError extends Error {
  constructor(cause: unknown) {
    super('All connections for this kind of work are in use.', { cause });
    this.name = 'ConnectionsBusyError';
  }
}

/** Thrown when a host in `DATABASE_URL` is a standby and another host must be used. */
export class StandbyError extends Error {
  constructor(host: string) {
    super(`${host} is a standby, which accepts no writes.`);
    this.name = 'StandbyError';
  }
}

const readCode = (error: Error): string | undefined =>
  'code' in error && typeof error.code === 'string' ? error.code : undefined;

/** Whether the server's response timed out. If so, the connection can no longer be used. */
export const isReadTimeout = (error: unknown): boolean =>
  error instanceof Error && /query read timeout/i.test(error.message);

/** Whether a statement timed out on a lock that another session holds. */
export const isLockTimeout = (error: unknown): boolean =>
  error instanceof Error && readCode(error) === lockTimeoutState;

/** Whether the server rejected a write because it is a standby or in read-only mode. */
export const isReadOnly = (error: unknown): boolean =>
  error instanceof Error && readCode(error) === readOnlyState;

export const isDiskFull = (error: unknown): error is Error =>
  error instanceof Error && readCode(error) === diskFullState;

/**
 * Whether the server rejected a single statement but is otherwise healthy. The error code can still belong to the class
 * of connection exceptions: `08P01` means a malformed message, and `08001` an unreachable foreign table. A server that
 * is shutting down sends `FATAL` or `PANIC` instead.
 */
const isStatementError = (error: Error): boolean =>
  'severity' in error && error.severity === 'ERROR';

/** Whether the Citus node that stores a statement's rows is unreachable. `08P01` means a malformed message. */
const isShardUnreachable = (error: Error): boolean =>
  isStatementError(error) &&
  readCode(error) !== '08P01' &&
  unreachableStates.test(readCode(error) ?? '');

/** Whether an error means that the database can't be reached or can't replicate writes. */
export function isUnreachable(error: unknown): boolean {
  if (error instanceof NotReplicatedError || error instanceof StandbyError) return true;
  if (!(error instanceof Error) || isStatementError(error)) return false;
  const code = readCode(error);
  if (code !== undefined) return unreachableStates.test(code) || connectionErrors.has(code);
  return (
    // These errors from `pg` and the embedded database have no code.
    error.name === 'DatabaseError' ||
    isReadTimeout(error) ||
    /connection (terminated|timeout)|pool after calling end|when trying to connect|not queryable/i.test(
      error.message,
    )
  );
}

/** Whether a request that failed with an error can be retried later. */
export function isUnavailable(error: unknown): boolean {
  if (error instanceof DatabaseUnreachableError || isUnreachable(error)) return true;
  return (
    error instanceof ConnectionsBusyError ||
    (error instanceof Error &&
      (temporaryStates.test(readCode(error) ?? '') || isShardUnreachable(error)))
  );
}

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
  return descriptions.length > 0 ? descriptions.join(', ') : 'a session that has since ended';
}
