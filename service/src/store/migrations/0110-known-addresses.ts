/** Addresses from which an account has signed in: guesses from elsewhere do not slow it down there. */
export const knownAddresses = {
  name: '0110-known-addresses',
  statements: ['ALTER TABLE sign_in_attempts ADD COLUMN known_until timestamptz'],
} as const;
