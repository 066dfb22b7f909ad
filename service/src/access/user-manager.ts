import type { AuditLog, Operation } from '../store/audit-log.ts';
import { type IfMatch, requireMatch } from '../store/if-match.ts';
import type { Role } from './principal.ts';
import type { Clock } from '../platform/time.ts';
import type { MakeId } from '../platform/ids.ts';
import { DomainError } from '../platform/domain-error.ts';
import type { Quotas } from '../store/quotas.ts';
import type { Links } from './links.ts';
import type { Sessions } from './sessions.ts';
import {
  describeUser,
  normalizeEmail,
  type User,
  countUsers,
  deleteUser,
  hasAccepted,
  insertUser,
  lockUser,
  updateUser,
} from './user.ts';

interface Deps {
  clock: Clock;
  makeId: MakeId;
  audit: AuditLog;
  quotas: Quotas;
  links: Links;
  sessions: Sessions;
}

/**
 * Manages users on behalf of owners. Each call runs in a transaction that holds a lock on the account's configuration.
 */
export interface UserManager {
  /** Creates a user and a link for setting their password. Returns the link's token. */
  invite(
    operation: Operation,
    person: { email: string; name: string; role: Role },
  ): Promise<{ user: User; linkToken: string }>;
  update(
    operation: Operation,
    target: { id: string; ifMatch: IfMatch },
    change: { name?: string; role?: Role },
  ): Promise<User>;
  /** Creates a new link for a user who has lost their password, authenticator or first link. */
  makeLink(operation: Operation, id: string): Promise<{ user: User; linkToken: string }>;
  remove(operation: Operation, target: { id: string; ifMatch: IfMatch }): Promise<void>;
}

export function createUserManager({
  clock,
  makeId,
  audit,
  quotas,
  links,
  sessions,
}: Deps): UserManager {
  const find = async (
    { queries, scope }: Operation,
    { id, ifMatch }: { id: string; ifMatch: IfMatch },
  ): Promise<User> => {
    const user = await lockUser(queries, scope.accountId, id);
    if (!user) throw new DomainError('not_found', `User ${id.slice(0, 64)} does not exist.`);
    requireMatch(ifMatch, user.revision);
    return user;
  };
  /** @throws DomainError when the user is the last owner, because only an owner can make another user an owner. */
  const rejectLastOwner = async ({ queries, scope }: Operation, user: User): Promise<void> => {
    const isActiveOwner = user.role === 'owner' && hasAccepted(user);
    if (isActiveOwner && (await countUsers(queries, scope.accountId, 'owner')) <= 1)
      throw new DomainError(
        'conflict',
        'This is the last owner. Make someone else an owner first.',
      );
  };
  return {
    async invite(operation, { email, name, role }) {
      const { queries, scope } = operation;
      await quotas.check(queries, scope.accountId, 'users');
      const id = makeId('user');
      await insertUser(queries, {
        accountId: scope.accountId,
        id,
        email: normalizeEmail(email),
        name: name.trim(),
        role,
        password: null,
        createdAtMs: clock.nowMs(),
      });
      const user = await find(operation, { id, ifMatch: undefined });
      const entry = { action: 'user.invited', targetId: id, after: describeUser(user) };
      await audit.record(operation, entry);
      return { user, linkToken: await links.make(queries, user) };
    },
    async update(operation, target, change) {
      const before = await find(operation, target);
      if (change.role !== undefined && change.role !== 'owner')
        await rejectLastOwner(operation, before);
      const { name, role } = change;
      await updateUser(operation.queries, before, {
        ...(name === undefined ? {} : { name: name.trim() }),
        ...(role === undefined ? {} : { role }),
      });
      const after = await find(operation, { ...target, ifMatch: undefined });
      await audit.record(operation, {
        action: 'user.updated',
        targetId: after.id,
        before: describeUser(before),
        after: describeUser(after),
      });
      return after;
    },
    async makeLink(operation, id) {
      const user = await find(operation, { id, ifMatch: undefined });
      await audit.record(operation, { action: 'user.link_made', targetId: id });
      return { user, linkToken: await links.make(operation.queries, user) };
    },
    async remove(operation, target) {
      const user = await find(operation, target);
      await rejectLastOwner(operation, user);
      await sessions.endAll(operation.queries, user);
      await deleteUser(operation.queries, user);
      const entry = { action: 'user.removed', targetId: user.id, before: describeUser(user) };
      await audit.record(operation, entry);
    },
  };
}
