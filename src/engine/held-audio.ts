import { type PostponedCalls, postponeCalls } from './postponed-calls.ts';
import { native } from '../platform/native.ts';

/**
 * Suspends an audio context, and keeps it suspended whatever resumes it: the game, its engine or the player's first
 * touch. Sounds keep their positions. The returned function lets the context go on, unless it was suspended before, and
 * then does what the game asked of it in the meantime. Calling it again has no effect.
 *
 * @example
 * const release = holdAudio(Howler.ctx);
 */
export function holdAudio(context: AudioContext): () => void {
  const calls = postponeCalls();
  const controller = new native.AbortController();
  const resume = suspendAudio(context, calls, controller.signal);
  return () => {
    if (controller.signal.aborted) return;
    controller.abort();
    calls.release();
    resume();
    calls.replay();
  };
}

/**
 * Suspends an audio context until `signal` is aborted and `calls` are released. Then, the returned function resumes it if
 * it was running.
 */
export function suspendAudio(
  context: AudioContext,
  calls: PostponedCalls,
  signal: AbortSignal,
): () => void {
  let didSuspend = false;
  const suspend = context.suspend.bind(context);
  const silence = (): void => {
    if (context.state !== 'running') return;
    didSuspend = true;
    suspend().catch(() => {});
  };
  silence();
  calls.postpone(context, ['suspend', 'resume'], { result: () => Promise.resolve() });
  // The player's first touch starts a context that waits for one.
  context.addEventListener('statechange', silence, { signal });
  return () => {
    if (didSuspend) context.resume().catch(() => {});
  };
}
