import { vi } from 'vitest';

/**
 * Retries `assertion` for up to 20 s, until it no longer throws. `expect.poll` has the same timeout in this project. The
 * timeout is long so that tests don't fail on a busy machine.
 */
export const eventually = <T>(assertion: () => T | Promise<T>): Promise<T> =>
  vi.waitFor(assertion, { timeout: 20_000 });
