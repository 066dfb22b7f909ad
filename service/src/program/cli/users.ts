import { createAuditLog, type Operation } from '../../store/audit-log.ts';
import { lockConfiguration } from '../../store/config-version.ts';
import { createQuotas } from '../../store/quotas.ts';
import { createLinks } from '../../access/links.ts';
import { createUserManager } from '../../access/user-manager.ts';
import { createPasswords } from '../../access/credentials.ts';
import { createSessions } from '../../access/sessions.ts';
import { roles } from '../../access/principal.ts';
import { findUsersByEmail, normalizeEmail } from '../../access/user.ts';
import {
  type Command,
  oneOf,
  readArguments,
  printMessage,
  printResult,
  UsageError,
} from './command.ts';
import { type DatabaseContext, withDatabase, chooseAccount } from './with-database.ts';

export const inviteUserCommand: Command = {
  name: 'users invite',
  summary: 'invite a user to the panel, or reset a lost password',
  help: `Usage: trueward-service users invite <e-mail> [options]

  --role <role>   owner, operator or viewer (default for a new user: viewer)
  --name <name>   the display name in the panel (default for a new user: the e-mail)
  --account <id>  the user's account; required if there are several accounts, unless the e-mail is in only one of them

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
    const role = values.role === undefined ? undefined : oneOf('role', values.role, roles);
    await withDatabase(
      async (context) => {
        const { database, clock, makeId, config } = context;
        const serviceUrl = config.publicUrl ?? `http://${config.host}:${config.port}`;
        const userManager = openUserManager(context);
        const { user, linkToken } = await database.transaction(async (queries) => {
          const users = await findUsersByEmail(queries, email);
          const [onlyUser] = users.length === 1 && values.account === undefined ? users : [];
          const accountId =
            onlyUser?.accountId ?? (await chooseAccount(queries, { clock, makeId }, values));
          const existingUser = users.find((user) => user.accountId === accountId);
          await lockConfiguration(queries, accountId);
          const operation: Operation = {
            queries,
            scope: { accountId, environment: 'live' },
            actor: 'command_line',
          };
          const { name } = values;
          if (!existingUser)
            return userManager.invite(operation, {
              email,
              name: name ?? email,
              role: role ?? 'viewer',
            });
          if (role !== undefined || name !== undefined)
            await userManager.update(
              operation,
              { id: existingUser.id, ifMatch: undefined },
              { ...(role === undefined ? {} : { role }), ...(name === undefined ? {} : { name }) },
            );
          return userManager.makeLink(operation, existingUser.id);
        });
        printResult({
          id: user.id,
          account_id: user.accountId,
          email,
          role: user.role,
          invite_url: `${serviceUrl}/panel/#/setup?token=${linkToken}`,
        });
      },
      { power: 'invitations', creates: true },
    );
    printMessage('The link can be used only once and expires in a day.');
  },
};

function openUserManager({ database, clock, makeId, config }: DatabaseContext) {
  const quotas = createQuotas(config.quotas, clock);
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
  return createUserManager({ clock, makeId, audit, quotas, links, sessions });
}
