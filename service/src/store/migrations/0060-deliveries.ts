/** Finds the next deliveries of each webhook without scanning the backlog of a dead endpoint. */
export const deliveries = {
  name: '0060-deliveries',
  statements: [
    `CREATE INDEX deliveries_waiting ON deliveries (account_id, webhook_id, next_at, id) WHERE state = 'pending'`,
    `CREATE INDEX resources_webhooks ON resources (account_id, id) WHERE kind = 'webhook'`,
  ],
} as const;
