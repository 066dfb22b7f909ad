/** Options for what proves that an ad was watched. */
export interface EvidenceOptions {
  /**
   * Values of `evidence` that are accepted besides `verified`, which means that the service judged the player's watching
   * itself. Default none.
   */
  acceptEvidence?: readonly string[];
}

/** Whether the evidence of a reward is accepted. Services that do not send it yet verify every reward. */
export const isAccepted = (
  evidence: unknown = 'verified',
  { acceptEvidence = [] }: EvidenceOptions,
): evidence is string => evidence === 'verified' || acceptEvidence.includes(evidence as string);

/** The message of the error when it is not accepted. */
export const evidenceProblem = (evidence: unknown): string =>
  `Expected the evidence "verified" or one of \`acceptEvidence\`, got ${JSON.stringify(evidence).slice(0, 60)}.`;
