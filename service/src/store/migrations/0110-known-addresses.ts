/** From where an account has signed in: guesses from elsewhere do not brake it there. */
export const knownAddresses = {
  name: '0110-known-addresses',
  statements: ['ALTER TABLE sign_in_attempts ADD COLUMN known_until timestamptz'],
} as const;
