import { say } from './command.ts';

/** Says how far a long work is, at most once a second, so that nobody takes it for dead. */
export function createProgress(describe: (count: number) => string, everyMs = 1_000) {
  let lastMs = performance.now();
  return (count: number): void => {
    const nowMs = performance.now();
    if (nowMs - lastMs < everyMs) return;
    lastMs = nowMs;
    say(describe(count));
  };
}
