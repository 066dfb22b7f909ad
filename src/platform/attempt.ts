/**
 * Returns the result of `work`, or undefined if it throws: for browser APIs that may be missing, or blocked by
 * cookie settings, a sandboxed frame or a policy of the page.
 */
export function attempt<T>(work: () => T): T | undefined {
  try {
    return work();
  } catch {
    return undefined;
  }
}
