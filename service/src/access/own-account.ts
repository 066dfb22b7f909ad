import type { AuditLog } from '../store/audit-log.ts';
import { DomainError } from '../platform/domain-error.ts';
import type { Database, Queries } from '../store/database.ts';
import { type OneTimeCodes, checkNewPassword, type Passwords } from './credentials.ts';
import type { Sessions } from './sessions.ts';
import { type User, lockUser, updateUser } from './user.ts';

interface Deps {
  database: Database;
  audit: AuditLog;
  codes: OneTimeCodes;
  sessions: Sessions;
  passwords: Passwords;
}

/** Changes that panel users make to their own credentials. */
export interface OwnAccount {
  /** Changes the password and ends all of the user's sessions. Returns a new session's token. */
  changePassword(user: User, newPassword: string): Promise<string>;
  /** Creates a secret for an authenticator app. Codes are required once {@link confirmCodeSetup} has succeeded. */
  startCodeSetup(user: User): Promise<{ secret: string; otpauthUrl: string }>;
  /** @throws DomainError when the code is wrong or the setup has not been started. */
  confirmCodeSetup(user: User, code: string): Promise<void>;
  disableCodes(user: User): Promise<void>;
}

export function createOwnAccount({
  database,
  audit,
  codes,
  sessions,
  passwords,
}: Deps): OwnAccount {
  /**
   * Changes the user's row while it is locked.
   *
   * @throws DomainError when the user's sessions have ended since the request was authenticated. Otherwise, a request
   * that was already in progress could undo what ended them.
   */
  const change = <T>(
    { accountId, id, password }: User,
    action: string,
    work: (queries: Queries, current: User) => Promise<T>,
  ): Promise<T> =>
    database.transaction(async (queries) => {
      const user = await lockUser(queries, accountId, id);
      if (!user) throw new DomainError('not_found', 'The user has been removed.');
      // Every password change ends the user's sessions, and every hash has its own salt.
      if (user.password !== password)
        throw new DomainError(
          'conflict',
          'Your password has been changed in the meantime: sign in again.',
        );
      const result = await work(queries, user);
      const operation = {
        queries,
        scope: { accountId, environment: 'live' as const },
        actor: user.email,
      };
      await audit.record(operation, { action, targetId: id });
      return result;
    });
  return {
    async changePassword(user, newPassword) {
      await checkNewPassword(newPassword, user, '/next');
      const password = await passwords.hash(newPassword);
      return change(user, 'user.password_changed', async (queries, current) => {
        await updateUser(queries, current, { password });
        await sessions.endAll(queries, current);
        return sessions.begin(queries, current);
      });
    },
    startCodeSetup: (user) =>
      change(user, 'user.code_setup_started', async (queries, current) => {
        if (current.codesActive) {
          throw new DomainError('conflict', 'One-time codes are already on. Turn them off first.');
        }
        const { sealed, ...setup } = codes.create(current.email);
        await updateUser(queries, current, { codesSecret: sealed });
        return setup;
      }),
    confirmCodeSetup: (user, code) =>
      change(user, 'user.codes_turned_on', async (queries, current) => {
        if (current.codesActive || current.codesSecret === null)
          throw new DomainError(
            'conflict',
            'There is nothing to confirm. Start setting up one-time codes first.',
          );
        if (!(await codes.redeem(queries, current, code))) {
          throw new DomainError('invalid_request', 'The body is not valid.', [
            { pointer: '/code', message: "is not the app's current code" },
          ]);
        }
        await updateUser(queries, current, { codesActive: true });
      }),
    disableCodes: (user) =>
      change(user, 'user.codes_turned_off', (queries, current) =>
        updateUser(queries, current, { codesActive: false, codesSecret: null }),
      ),
  };
}
