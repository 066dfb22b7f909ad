/** A key's own limit: `{"per_s": 100, "burst": 500}`. */
export const keyLimits = {
  name: '0090-key-limits',
  statements: [`ALTER TABLE keys ADD COLUMN rate_limit jsonb`],
} as const;
