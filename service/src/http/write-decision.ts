import type { Decision } from '@trueward/protocol/wire';

const known = new WeakMap<object, string>();

/** Most of an answer is its ad, which is the same object in many of them: its text is made once. */
export function writeDecision(decision: Decision): string {
  const { creative } = decision;
  if (creative === undefined) return JSON.stringify(decision);
  let text = known.get(creative);
  if (text === undefined) known.set(creative, (text = JSON.stringify(creative)));
  return `${JSON.stringify(withoutCreative(decision)).slice(0, -1)},"creative":${text}}`;
}

type Own = Record<Exclude<keyof Decision, 'creative'>, unknown>;

/** Each member by its name: to spread the rest of an object takes longer than to write it. */
const withoutCreative = (decision: Decision): Own => ({
  id: decision.id,
  status: decision.status,
  placement: decision.placement,
  format: decision.format,
  issued_at: decision.issued_at,
  expires_at: decision.expires_at,
  reason: decision.reason,
  retry_at: decision.retry_at,
  explain: decision.explain,
  min_watch_ms: decision.min_watch_ms,
  reward: decision.reward,
  close_after_ms: decision.close_after_ms,
  token: decision.token,
});
