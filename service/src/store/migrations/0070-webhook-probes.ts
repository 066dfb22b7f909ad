/** When a disabled webhook was last probed, so that only one process probes it, and rarely. */
export const webhookProbes = {
  name: '0070-webhook-probes',
  statements: [`ALTER TABLE webhook_failures ADD COLUMN probed_at timestamptz`],
} as const;
