import type { AuditLog } from '../store/audit-log.ts';
import { DomainError } from '../platform/domain-error.ts';
import type { Database, Queries } from '../store/database.ts';
import { type OneTimeCodes, checkNewPassword, type Passwords } from './credentials.ts';
import type { Sessions } from './sessions.ts';
import { type User, findUser, updateUser } from './user.ts';

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
  const change = <T>(
    { accountId, id }: User,
    action: string,
    work: (queries: Queries, user: User) => Promise<T>,
  ): Promise<T> =>
    database.transaction(async (queries) => {
      const user = await findUser(queries, accountId, id);
      if (!user) throw new DomainError('not_found', 'The user has been removed.');
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
        await updateUser(queries, { ...current, password });
        await sessions.endAll(queries, current);
        return sessions.begin(queries, current);
      });
    },
    async startCodeSetup(user) {
      if (user.codesActive) {
        throw new DomainError('conflict', 'One-time codes are already on. Turn them off first.');
      }
      const { sealed, ...setup } = codes.create(user.email);
      await updateUser(database, { ...user, codesSecret: sealed });
      return setup;
    },
    async confirmCodeSetup(user, code) {
      if (user.codesActive || user.codesSecret === null)
        throw new DomainError(
          'conflict',
          'There is nothing to confirm. Start setting up one-time codes first.',
        );
      if (!(await codes.redeem(user, code))) {
        throw new DomainError('invalid_request', 'The body is not valid.', [
          { pointer: '/code', message: "is not the app's current code" },
        ]);
      }
      await change(user, 'user.codes_turned_on', (queries, current) =>
        updateUser(queries, { ...current, codesActive: true }),
      );
    },
    disableCodes: (user) =>
      change(user, 'user.codes_turned_off', (queries, current) =>
        updateUser(queries, { ...current, codesActive: false, codesSecret: null }),
      ),
  };
}
