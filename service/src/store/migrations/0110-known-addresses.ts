/** IPs from which a user has signed in; password guesses from other IPs do not throttle these. */
export const knownAddresses = {
  name: '0110-known-addresses',
  statements: ['ALTER TABLE sign_in_attempts ADD COLUMN known_until timestamptz'],
} as const;
