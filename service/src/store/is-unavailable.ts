/** SQLSTATE classes of a server that cannot be reached or is going: connection, operator intervention. */
const awayStates = /^(08|57P)/;
/**
 * Of one that answers, but cannot do it now: resources (a full disk among them), cancelled by a
 * time-out, a lock that is not to be had, a conflict with others again and again, a standby.
 */
const refusingStates = /^(53|57014|55P03|40001|40P01|25006)/;
const brokenConnections = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EPIPE',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'ENETUNREACH',
]);

/** The database was away when it was last asked; it is not asked again until it is back. */
export class DatabaseAwayError extends Error {
  constructor(cause: unknown) {
    super('The database does not answer.', { cause });
    this.name = 'DatabaseAwayError';
  }
}

const codeOf = (error: Error): string | undefined =>
  'code' in error && typeof error.code === 'string' ? error.code : undefined;

/** Whether the server said nothing for so long that its connection cannot be used any more. */
export const isReadTimeout = (error: unknown): boolean =>
  error instanceof Error && /query read timeout/i.test(error.message);

/** Whether a statement timed out on a lock that another session holds. */
export const isLockTimeout = (error: unknown): boolean =>
  error instanceof Error && codeOf(error) === '55P03';

/**
 * A server that refuses one statement is still up, whatever the class of the error: a malformed message is
 * `08P01`, an unreachable foreign table `08001`. A server that is shutting down sends `FATAL` or `PANIC`.
 */
const isRefusal = (error: Error): boolean => 'severity' in error && error.severity === 'ERROR';

/** Whether an error says that nothing can be asked of the database now. */
export function isAway(error: unknown): boolean {
  if (!(error instanceof Error) || isRefusal(error)) return false;
  const code = codeOf(error);
  if (code !== undefined) return awayStates.test(code) || brokenConnections.has(code);
  return (
    // Neither `pg` nor our own thread gives these a code.
    error.name === 'DatabaseError' ||
    isReadTimeout(error) ||
    /connection (terminated|timeout)|pool after calling end|when trying to connect|not queryable/i.test(
      error.message,
    )
  );
}

/** Whether a request that met this error can come again later, unchanged. */
export function isUnavailable(error: unknown): boolean {
  if (error instanceof DatabaseAwayError || isAway(error)) return true;
  return error instanceof Error && refusingStates.test(codeOf(error) ?? '');
}
