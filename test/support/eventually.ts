import { vi } from 'vitest';

/**
 * Resolves when `check` no longer throws. Waits up to 20 s, the timeout of `expect.poll` here, so that a busy machine
 * makes a test slow but not fail.
 */
export const eventually = <T>(check: () => T | Promise<T>): Promise<T> =>
  vi.waitFor(check, { timeout: 20_000 });
