/** Which house ad's daily cap a decision may still use up. */
export const dailyReservations = {
  name: '0082-daily-reservations',
  statements: [`ALTER TABLE decisions ADD COLUMN reserved_ad text`],
} as const;

/** These are counted twice a second: by an index that holds no others. */
export const dailyReservationsIndex = {
  name: '0083-daily-reservations-index',
  indexes: [
    {
      name: 'decisions_reserved',
      table: 'decisions',
      on: '(account_id, reserved_ad, id) WHERE reserved_ad IS NOT NULL AND served_at IS NULL',
    },
  ],
} as const;
