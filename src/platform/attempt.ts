/**
 * What `work` returns, or undefined where the browser refuses: what is missing, and what throws because cookies
 * are blocked, the frame is sandboxed or a policy of the page forbids it, is done without.
 */
export function attempt<T>(work: () => T): T | undefined {
  try {
    return work();
  } catch {
    return undefined;
  }
}
