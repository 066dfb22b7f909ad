/**
 * The dangerous things that a signed-in user can do: each of them could hand the account, its secrets or its rewards to
 * someone else. A route names its power in `config.power`. Before it runs, the user must have entered the password (and
 * the one-time code, if codes are on) within the last {@link confirmedForMs}, so a stolen session alone doesn't suffice.
 *
 * Secret keys and the command line are credentials of their own: a key wields the powers of the API routes, and a command
 * that has a power must open the service's secrets with the master key (`program/cli/with-database.ts`), so access to the
 * database alone doesn't suffice. Both are recorded in the audit log like a session.
 */
export const powers = {
  one_time_codes: 'change one-time codes',
  users: 'change users and their roles',
  invitations: 'create links for signing in',
  keys: 'change API keys',
  webhook_secrets: 'create webhook secrets',
  webhook_receivers: 'change who receives webhooks',
  source_callbacks: 'change who confirms the views of a source',
  user_token_secrets: 'create secrets for user tokens',
  players: 'read and erase a player’s data',
  grants: 'give players what they did not earn, and access to their devices',
  retention: 'delete data sooner',
  receipt_keys: 'change the keys that sign receipts',
  master_key: 'change the master key',
  export: 'export data of all accounts',
} as const;

export type Power = keyof typeof powers;

/** How long a password check counts. A sign-in is a password check. */
export const confirmedForMs = 600_000;
