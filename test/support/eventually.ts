import { vi } from 'vitest';

/**
 * Resolves when `check` no longer throws. Twenty seconds at most, as `expect.poll` has it here: a fact
 * that takes its time on a busy machine is a fact all the same.
 */
export const eventually = <T>(check: () => T | Promise<T>): Promise<T> =>
  vi.waitFor(check, { timeout: 20_000 });
