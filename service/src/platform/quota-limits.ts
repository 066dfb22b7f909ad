/**
 * Everything that an account stores until somebody removes it, and how much of it. Without these limits, one account
 * could fill the database and the memory, and loading its configuration would delay the others. What players and
 * operators cause day by day, such as decisions and audit entries, is bounded by rate limits and retention instead.
 */
export const defaultQuotas = {
  placements: 1_000,
  sources: 200,
  advertisers: 5_000,
  creatives: 5_000,
  house_ads: 500,
  policies: 100,
  ad_rules: 50,
  kill_switches: 1_000,
  webhooks: 50,
  configuration_kb: 8_192,
  media_mb: 20_480,
  keys: 1_000,
  users: 200,
  user_token_secrets: 20,
} as const satisfies Record<string, number>;

export type QuotaKind = keyof typeof defaultQuotas;

export const quotaKinds = Object.keys(defaultQuotas) as QuotaKind[];

/** Limits that replace the defaults. */
export type QuotaLimits = Partial<Record<QuotaKind, number>>;

/** Parses limits such as `policies=500, media_mb=50000`. Returns undefined if the text is invalid. */
export function parseQuotaLimits(text: string): QuotaLimits | undefined {
  const limits: QuotaLimits = {};
  for (const part of text.split(',').map((entry) => entry.trim())) {
    if (part === '') continue;
    const [, name, value] = /^(\w+)=(\d{1,9})$/.exec(part) ?? [];
    const kind = quotaKinds.find((known) => known === name);
    if (kind === undefined) return undefined;
    limits[kind] = Number(value);
  }
  return limits;
}

/** The setting with which the operator of the service replaces the defaults. */
export const quotaSetting = {
  description:
    'comma-separated limits on what an account stores, such as policies=500,media_mb=50000; GET /v1/usage lists all',
  expected: `comma-separated name=number pairs with the names ${quotaKinds.join(', ')}`,
  isValid: (text: string): boolean => parseQuotaLimits(text) !== undefined,
};
