import type { UserToken } from './options.ts';
import { type Clock, runWithTimeout } from './platform/clock.ts';
import { toText } from './platform/guard.ts';

/** Why a game's `userToken` function has returned no token. */
type TokenFailure =
  | { outcome: 'error'; reason: 'user_token_failed'; detail: string }
  | { outcome: 'timeout'; reason: 'load_timeout' }
  | { outcome: 'aborted' };

const fail = (detail: string): TokenFailure => ({
  outcome: 'error',
  reason: 'user_token_failed',
  detail,
});

/**
 * Returns the user token for one request. If the token cannot be obtained, returns the reason. The request must not be
 * sent in that case, because it could not be attributed to a player. Never rejects, even if the game's function rejects.
 */
export async function getUserToken(
  source: UserToken | undefined,
  { clock, timeoutMs, signal }: { clock: Clock; timeoutMs: number; signal: AbortSignal },
): Promise<{ userToken: string | undefined } | TokenFailure> {
  if (typeof source !== 'function') return { userToken: source };
  const result = await runWithTimeout(clock, timeoutMs, signal, async () => {
    try {
      const userToken: unknown = await source();
      if (typeof userToken === 'string' || userToken === undefined) return { userToken };
      return fail(`the \`userToken\` function must return a string; got ${typeof userToken}.`);
    } catch (error) {
      return fail(`the \`userToken\` function failed: ${toText(error)}`);
    }
  });
  if (typeof result === 'object') return result;
  return result === 'timeout'
    ? { outcome: result, reason: 'load_timeout' }
    : { outcome: 'aborted' };
}
