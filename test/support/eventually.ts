import { vi } from 'vitest';

/**
 * Retries until `assertion` no longer throws, for up to 20 s. `expect.poll` has the same timeout in this project. On a
 * busy machine, a test should be slow but not fail.
 */
export const eventually = <T>(assertion: () => T | Promise<T>): Promise<T> =>
  vi.waitFor(assertion, { timeout: 20_000 });
