import type { Decision } from '@trueward/protocol/wire';

/** The answer to a trial: whether the next ad would be shown. */
interface Answer {
  isShown: boolean;
  text: string;
}

/**
 * Says whether the next ad would be shown and, if a rule holds it back, when. Returns undefined if there is no ad for
 * another reason.
 */
export function describeAnswer(
  { format, issued_at: issuedAt, reason, retry_at: retryAt, status }: Decision,
  explain: readonly { name: string }[],
): Answer | undefined {
  if (status === 'filled')
    return { isShown: true, text: `The next ${format} ad would be shown now.` };
  if (reason === 'ad_free') return { isShown: false, text: `This player sees no ${format} ads.` };
  if (reason !== 'frequency_capped') return undefined;
  const seconds =
    retryAt === undefined
      ? undefined
      : Math.ceil((Date.parse(retryAt) - Date.parse(issuedAt)) / 1_000);
  const when =
    seconds === undefined
      ? 'would not be shown in this session'
      : `would be shown ${seconds} ${seconds === 1 ? 'second' : 'seconds'} later`;
  const rule = explain[0]?.name;
  return {
    isShown: false,
    text: `The next ${format} ad ${when}.${rule === undefined ? '' : ` Held back by: ${rule}`}`,
  };
}
