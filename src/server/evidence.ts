/** Options for what proves that an ad was watched. */
export interface EvidenceOptions {
  /**
   * Values of `evidence` that are accepted besides `verified`, which means that the service judged the player's watching
   * itself. Default none.
   */
  acceptEvidence?: readonly string[];
}

/**
 * Returns the evidence of a reward; undefined if it is not accepted. Services that do not send it yet verify every
 * reward.
 */
export function acceptedEvidence(
  evidence: unknown,
  { acceptEvidence = [] }: EvidenceOptions,
): string | undefined {
  if (evidence === undefined || evidence === 'verified') return 'verified';
  return typeof evidence === 'string' && acceptEvidence.includes(evidence) ? evidence : undefined;
}

/** The message of the error when it is not accepted. */
export const evidenceProblem = (evidence: unknown): string =>
  `Expected the evidence "verified", got ${(JSON.stringify(evidence) ?? 'undefined').slice(0, 60)}: do not ` +
  'credit the reward, or name this evidence in `acceptEvidence`.';
