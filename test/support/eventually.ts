import { vi } from 'vitest';

/**
 * Resolves when `check` no longer throws. Like `expect.poll` in this project, it waits up to 20 s, so that a busy
 * machine makes a test slow but does not make it fail.
 */
export const eventually = <T>(check: () => T | Promise<T>): Promise<T> =>
  vi.waitFor(check, { timeout: 20_000 });
