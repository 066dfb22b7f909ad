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

/** What came of somebody who wanted to sign in; `sessionText` is the cookie. */
export type SignedIn =
  | { sessionText: string }
  | { refused: 'sign_in_failed' | 'code_required' }
  | { refused: 'locked'; waitS: number };

export interface SignIn {
  /** With the e-mail, the password and, where they are on, a one-time code. */
  byPassword(credentials: {
    email: string;
    password: string;
    code?: string;
    address: string;
  }): Promise<SignedIn>;
  /** Somebody who has just proven it otherwise. Hands back the text of the session. */
  begin(queries: Queries, user: User): Promise<string>;
  /** Whether it is the user's password; guesses are counted as those at the sign-in are. */
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
  /** Checks credentials, and counts wrong ones against the limits. */
  const counted = async (
    attempt: Attempt,
    look: () => Promise<SignedIn | undefined>,
  ): Promise<SignedIn | undefined> => {
    const taken = await lockOut.take(attempt);
    if ('waitS' in taken) return { refused: 'locked', waitS: taken.waitS };
    const refusal = await look();
    if (refusal === undefined) await taken.succeed();
    // The password was right and no code was guessed.
    else if ('refused' in refusal && refusal.refused === 'code_required') await taken.undo();
    return refusal;
  };
  return {
    begin,
    async byPassword({ password, code, address, ...given }) {
      const email = normalizeEmail(given.email);
      const user = await findUserByEmail(database, email);
      const refusal = await counted({ email, address }, async () => {
        const right = await passwords.verify(password, user?.password ?? null);
        if (!user || !right) return { refused: 'sign_in_failed' };
        if (!user.codesActive) return undefined;
        if (code === undefined) return { refused: 'code_required' };
        return (await codes.use(user, code)) ? undefined : { refused: 'sign_in_failed' };
      });
      if (refusal || !user) return refusal ?? { refused: 'sign_in_failed' };
      return { sessionText: await database.transaction((queries) => begin(queries, user)) };
    },
    confirm: (user, password, address) =>
      counted({ email: user.email, address }, async () =>
        (await passwords.verify(password, user.password))
          ? undefined
          : { refused: 'sign_in_failed' },
      ),
  };
}
