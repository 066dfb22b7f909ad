import type { Clock } from '../platform/clock.ts';
import type { Database, Queries } from '../store/database.ts';
import type { Attempt, LockOut } from './lock-out.ts';
import type { OneTimeCodes } from './one-time-codes.ts';
import type { Passwords } from './password.ts';
import type { Sessions } from './sessions.ts';
import { normalizeEmail, type User, findUserByEmail } from './user.ts';

interface Parts {
  database: Database;
  clock: Clock;
  lockOut: LockOut;
  codes: OneTimeCodes;
  sessions: Sessions;
  passwords: Passwords;
}

/** The result of a sign-in; `sessionText` is the value of the cookie. */
export type SignedIn =
  | { sessionText: string }
  | { refused: 'sign_in_failed' | 'code_required' }
  | { refused: 'locked'; waitS: number };

export interface SignIn {
  /** Signs in with e-mail, password and, if enabled, a one-time code. */
  byPassword(credentials: {
    email: string;
    password: string;
    code?: string;
    address: string;
  }): Promise<SignedIn>;
  /** Starts a session for a user who has been authenticated by other means, and returns its token. */
  begin(queries: Queries, user: User): Promise<string>;
  /** Verifies the user's password again; failures count like those of sign-ins. */
  confirm(user: User, password: string, address: string): Promise<SignedIn | undefined>;
}

export function createSignIn({
  database,
  clock,
  lockOut,
  codes,
  sessions,
  passwords,
}: Parts): SignIn {
  const begin = async (queries: Queries, user: User): Promise<string> => {
    await queries.query('UPDATE users SET last_sign_in_at = $3 WHERE account_id = $1 AND id = $2', [
      user.accountId,
      user.id,
      new Date(clock.nowMs()),
    ]);
    return sessions.begin(queries, user);
  };
  /** Checks credentials and counts failures against the limits. */
  const checkLimited = async (
    attempt: Attempt,
    verify: () => Promise<SignedIn | undefined>,
  ): Promise<SignedIn | undefined> => {
    const attempted = await lockOut.count(attempt);
    if ('waitS' in attempted) return { refused: 'locked', waitS: attempted.waitS };
    const refusal = await verify();
    if (refusal === undefined) await attempted.succeed();
    // The password was right, and no code was tried.
    else if ('refused' in refusal && refusal.refused === 'code_required') await attempted.undo();
    return refusal;
  };
  return {
    begin,
    async byPassword({ password, code, address, ...given }) {
      const email = normalizeEmail(given.email);
      const user = await findUserByEmail(database, email);
      const refusal = await checkLimited({ email, address }, async () => {
        const matches = await passwords.verify(password, user?.password ?? null);
        if (!user || !matches) return { refused: 'sign_in_failed' };
        if (!user.codesActive) return undefined;
        if (code === undefined) return { refused: 'code_required' };
        return (await codes.use(user, code)) ? undefined : { refused: 'sign_in_failed' };
      });
      if (refusal || !user) return refusal ?? { refused: 'sign_in_failed' };
      return { sessionText: await database.transaction((queries) => begin(queries, user)) };
    },
    confirm: (user, password, address) =>
      checkLimited({ email: user.email, address }, async () =>
        (await passwords.verify(password, user.password))
          ? undefined
          : { refused: 'sign_in_failed' },
      ),
  };
}
