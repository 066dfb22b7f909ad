/** Which evidence to accept as proof that an ad was watched. */
export interface EvidenceOptions {
  /**
   * `evidence` values to accept in addition to `verified`. `verified` means that the service itself verified that the
   * ad was watched. Default: none.
   */
  acceptEvidence?: readonly string[];
}

/** Whether a reward's evidence is accepted. Older services verify every reward and send no evidence. */
export const isEvidenceAccepted = (
  evidence: unknown = 'verified',
  { acceptEvidence = [] }: EvidenceOptions,
): evidence is string => evidence === 'verified' || acceptEvidence.includes(evidence as string);

/** Returns the error message for evidence that is not accepted. */
export const describeEvidenceProblem = (evidence: unknown): string =>
  `Expected the evidence "verified" or one of \`acceptEvidence\`, got ${JSON.stringify(evidence).slice(0, 60)}.`;
