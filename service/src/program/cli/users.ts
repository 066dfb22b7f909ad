import { createAuditLog, type Operation } from '../../store/audit-log.ts';
import { lockConfiguration } from '../../store/config-version.ts';
import type { Clock } from '../../platform/time.ts';
import type { MakeId } from '../../platform/ids.ts';
import type { Database } from '../../store/database.ts';
import { createLinks } from '../../access/links.ts';
import { createUserManager } from '../../access/user-manager.ts';
import { createPasswords } from '../../access/credentials.ts';
import { createSessions } from '../../access/sessions.ts';
import { roles } from '../../access/principal.ts';
import { findUserByEmail, normalizeEmail } from '../../access/user.ts';
import {
  type Command,
  oneOf,
  readArguments,
  printMessage,
  printResult,
  UsageError,
} from './command.ts';
import { withDatabase, chooseAccount } from './with-database.ts';

export const inviteUserCommand: Command = {
  name: 'users invite',
  summary: 'invite a user to the panel, or reset a lost password',
  help: `Usage: trueward-service users invite <e-mail> [options]

  --role <role>   owner, operator or viewer (default viewer); an existing user keeps the current role
  --name <name>   the display name in the panel (default: the e-mail)
  --account <id>  the user's account; required if there are several accounts

Prints one line of JSON with a single-use link that is valid for a day. An existing user can set a new
password with it, which also turns off one-time codes.

Example
  trueward-service users invite ada@example.com --role owner`,
  async run(args) {
    const { values, positionals } = readArguments(
      args,
      { role: { type: 'string' }, name: { type: 'string' }, account: { type: 'string' } },
      ['e-mail'],
    );
    const email = normalizeEmail(positionals[0] ?? '');
    if (!/^[^\s@]+@[^\s@]+$/.test(email))
      throw new UsageError(`${JSON.stringify(email)} is not an e-mail address.`);
    const role = oneOf('role', values.role ?? 'viewer', roles);
    await withDatabase(async ({ database, clock, makeId, config }) => {
      const serviceUrl = config.publicUrl ?? `http://${config.host}:${config.port}`;
      const userManager = openUserManager(database, clock, makeId);
      const { user, linkToken } = await database.transaction(async (queries) => {
        const existingUser = await findUserByEmail(queries, email);
        const accountId =
          existingUser?.accountId ?? (await chooseAccount(queries, { clock, makeId }, values));
        await lockConfiguration(queries, accountId);
        const operation: Operation = {
          queries,
          scope: { accountId, environment: 'live' },
          actor: 'command_line',
        };
        return existingUser
          ? userManager.makeLink(operation, existingUser.id)
          : userManager.invite(operation, { email, name: values.name ?? email, role });
      });
      printResult({
        id: user.id,
        account_id: user.accountId,
        email,
        role: user.role,
        invite_url: `${serviceUrl}/panel/#/setup?token=${linkToken}`,
      });
    });
    printMessage('The link can be used only once and expires in a day.');
  },
};

function openUserManager(database: Database, clock: Clock, makeId: MakeId) {
  const audit = createAuditLog(clock, makeId);
  const sessions = createSessions(database, clock);
  const links = createLinks({
    database,
    clock,
    makeId,
    audit,
    sessions,
    passwords: createPasswords(),
  });
  return createUserManager({ clock, makeId, audit, links, sessions });
}
