/** SQLSTATE classes of a server that cannot answer now: connection, resources, operator intervention. */
const unavailableStates = /^(08|53|57P)/;
const brokenConnections = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EPIPE',
  'ETIMEDOUT',
  'EHOSTUNREACH',
]);

/** Whether an error says that the database cannot be reached, so that the request can come again. */
export function isUnavailable(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const code = 'code' in error && typeof error.code === 'string' ? error.code : undefined;
  if (code !== undefined) return unavailableStates.test(code) || brokenConnections.has(code);
  return (
    // Neither `pg` nor our own thread gives these a code.
    error.name === 'DatabaseError' ||
    /connection (terminated|timeout)|pool after calling end/i.test(error.message)
  );
}
