import { DomainError } from '../platform/domain-error.ts';
import type { Clock } from '../platform/time.ts';
import type { Database } from '../store/database.ts';
import { type Attempt, createLockout } from './lockout.ts';
import type { OneTimeCodes, Passwords } from './credentials.ts';
import type { Sessions } from './sessions.ts';
import type { ProvenIdentity } from './single-sign-on.ts';
import { findUsersByEmail, normalizeEmail, type User } from './user.ts';

interface Deps {
  database: Database;
  clock: Clock;
  codes: OneTimeCodes;
  sessions: Sessions;
  passwords: Passwords;
}

/** The result of a sign-in. `sessionToken` is the session cookie's value. */
export type SignInResult =
  | { sessionToken: string }
  | { failure: 'sign_in_failed' | 'code_required' }
  /** The password or the address opens several accounts, and the request doesn't name one of them. */
  | { failure: 'account_required'; accountIds: string[] }
  | { failure: 'locked'; waitS: number };

export interface SignIn {
  /** Signs in with an e-mail address, a password and, if required, a one-time code. */
  byPassword(credentials: {
    email: string;
    password: string;
    code?: string;
    /** The id of the account; needed only if the password opens several. */
    account?: string;
    ip: string;
  }): Promise<SignInResult>;
  /**
   * Starts a session for a user who has been authenticated by a link, and remembers that the user has signed in from
   * this IP. Returns the session token.
   *
   * @throws DomainError when the user has been removed or changed the password since then.
   */
  beginByLink(user: User, ip: string): Promise<string>;
  /**
   * Starts a session for a user whose e-mail address the OpenID provider has proven. The provider's second factor takes the
   * place of one-time codes.
   *
   * @param identity `account`: the id of the account, needed only if the address is known in several
   */
  bySingleSignOn(
    identity: ProvenIdentity & { account?: string; ip: string },
  ): Promise<SignInResult>;
  /**
   * Verifies a signed-in user's password, and the one-time code if the user has codes and `requiresCode` is set. Failures
   * count as failed sign-ins.
   */
  confirm(
    user: User,
    credentials: { password: string; code?: string },
    options: { ip: string; requiresCode: boolean },
  ): Promise<SignInResult | undefined>;
}

export function createSignIn({ database, clock, codes, sessions, passwords }: Deps): SignIn {
  const lockout = createLockout(database, clock);
  /**
   * Starts a session, unless the user has been removed or changed the password since `user` was read. Otherwise, a sign-in
   * in progress would outlive the change, which ends the user's sessions.
   */
  const begin = (
    { accountId, id, password }: User,
    confirmedAtMs?: number,
  ): Promise<string | undefined> =>
    database.transaction(async (queries) => {
      // Waits for such a change. Every hash has its own salt.
      const rows = await queries.query(
        `UPDATE users SET last_sign_in_at = $3
          WHERE account_id = $1 AND id = $2 AND password IS NOT DISTINCT FROM $4::text RETURNING id`,
        [accountId, id, new Date(clock.nowMs()), password],
      );
      return rows.length === 0
        ? undefined
        : sessions.begin(queries, { accountId, id }, confirmedAtMs);
    });
  const toResult = (sessionToken: string | undefined): SignInResult =>
    sessionToken === undefined ? { failure: 'sign_in_failed' } : { sessionToken };
  /** Verifies credentials, subject to the limits on failed attempts. */
  const verifyLimited = async (
    attempt: Attempt,
    verify: () => Promise<SignInResult | undefined>,
  ): Promise<SignInResult | undefined> => {
    const countedAttempt = await lockout.count(attempt);
    if ('waitS' in countedAttempt) return { failure: 'locked', waitS: countedAttempt.waitS };
    const result = await verify();
    if (result === undefined) await countedAttempt.succeed();
    // The password was correct and only the code or the account is missing, so the attempt was not a guess.
    else if ('failure' in result && result.failure !== 'sign_in_failed')
      await countedAttempt.undo();
    return result;
  };
  return {
    async beginByLink(user, ip) {
      await lockout.remember({ email: user.email, ip });
      const sessionToken = await begin(user);
      if (sessionToken !== undefined) return sessionToken;
      throw new DomainError('conflict', 'Your password has been changed: sign in with it.');
    },
    async bySingleSignOn({ email: provenEmail, authenticatedAtMs = 0, account, ip }) {
      const email = normalizeEmail(provenEmail);
      const users = (await findUsersByEmail(database, email)).filter(
        ({ accountId }) => account === undefined || accountId === account,
      );
      const [user] = users;
      if (!user) return { failure: 'sign_in_failed' };
      if (users.length > 1)
        return { failure: 'account_required', accountIds: users.map(({ accountId }) => accountId) };
      await lockout.remember({ email, ip });
      // A provider that doesn't tell when credentials were entered confirms nothing.
      const confirmedAtMs = Math.min(authenticatedAtMs, clock.nowMs());
      return toResult(await begin(user, confirmedAtMs));
    },
    async byPassword({ password, code, account, ip, email: enteredEmail }) {
      const email = normalizeEmail(enteredEmail);
      let user: User | undefined;
      const failure = await verifyLimited({ email, ip }, async () => {
        const users = (await findUsersByEmail(database, email)).filter(
          ({ accountId }) => account === undefined || accountId === account,
        );
        // At the same time, so that the time doesn't tell in how many accounts the address is known.
        const verdicts = await Promise.all(
          users.map((candidate) => passwords.verify(password, candidate.password)),
        );
        const matches = users.filter((_, index) => verdicts[index]);
        // An unknown e-mail address must take as long as a known one.
        if (users.length === 0) await passwords.verify(password, null);
        if (matches.length > 1)
          return {
            failure: 'account_required',
            accountIds: matches.map((match) => match.accountId),
          };
        [user] = matches;
        if (!user) return { failure: 'sign_in_failed' };
        if (!user.codesActive) return undefined;
        if (code === undefined) return { failure: 'code_required' };
        return (await codes.redeem(database, user, code))
          ? undefined
          : { failure: 'sign_in_failed' };
      });
      if (failure || !user) return failure ?? { failure: 'sign_in_failed' };
      return toResult(await begin(user));
    },
    confirm: (user, { password, code }, { ip, requiresCode }) =>
      verifyLimited({ email: user.email, ip }, async () => {
        if (!(await passwords.verify(password, user.password)))
          return { failure: 'sign_in_failed' };
        if (!requiresCode || !user.codesActive) return undefined;
        if (code === undefined) return { failure: 'code_required' };
        return (await codes.redeem(database, user, code))
          ? undefined
          : { failure: 'sign_in_failed' };
      }),
  };
}
