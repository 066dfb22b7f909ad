/** How many days an account keeps its data, if that is less than what the service's settings say. */
export const accountRetention = {
  name: '0005-account-retention',
  statements: [
    `ALTER TABLE accounts ADD COLUMN IF NOT EXISTS retention_days integer,
      ADD COLUMN IF NOT EXISTS audit_retention_days integer`,
  ],
} as const;
