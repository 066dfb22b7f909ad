/** When a webhook that was taken out of use was last tried, so that one process does it, and rarely. */
export const webhookProbes = {
  name: '0070-webhook-probes',
  statements: [`ALTER TABLE webhook_failures ADD COLUMN probed_at timestamptz`],
} as const;
