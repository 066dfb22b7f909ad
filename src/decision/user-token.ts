import type { UserToken } from '../options.ts';
import { bounded } from '../platform/bounded.ts';
import type { Clock } from '../platform/clock.ts';
import type { NoAd } from './decisions.ts';

const failed = (detail: string): NoAd => ({
  outcome: 'error',
  reason: 'user_token_failed',
  detail,
});

/**
 * Gets the user token for one request, or the reason to make none: without a token, the reward would belong to
 * nobody. Never rejects, whatever the game's function does.
 */
export async function getUserToken(
  source: UserToken | undefined,
  { clock, loadTimeoutMs }: { clock: Clock; loadTimeoutMs: number },
  signal: AbortSignal,
): Promise<{ userToken: string | undefined } | NoAd> {
  if (typeof source !== 'function') return { userToken: source };
  const got = await bounded(clock, loadTimeoutMs, signal, async () => {
    try {
      const userToken: unknown = await source();
      if (typeof userToken === 'string' || userToken === undefined) return { userToken };
      return failed(`the function \`userToken\` must return a string; got ${typeof userToken}.`);
    } catch (error) {
      return failed(`the function \`userToken\` failed: ${String(error)}`);
    }
  });
  if (typeof got === 'object') return got;
  return got === 'timeout' ? { outcome: got, reason: 'load_timeout' } : { outcome: 'aborted' };
}
