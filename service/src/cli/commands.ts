import { archiveCommand } from './archive.ts';
import { configCommand, environmentHelp } from './config.ts';
import { doctorCommand } from './doctor.ts';
import { exportCommand, importCommand } from './transfer.ts';
import { keyCommands } from './keys.ts';
import { listenCommand } from './listen.ts';
import { masterKeyCommands, rotateReceiptKeyCommand } from './rotate-keys.ts';
import { inviteUserCommand } from './users.ts';
import { type Command, readArguments, tell } from './command.ts';
import { withDatabase } from './with-database.ts';

const startCommand: Command = {
  name: 'start',
  summary: 'run the service until SIGTERM or Ctrl-C',
  help: `Usage: trueward-service start

Prints one line of JSON, {"ready":true,"url":…}, when it answers; logs go to standard error.

${environmentHelp}`,
  async run(args) {
    readArguments(args, {});
    // Loading all of the service takes longer than most commands do.
    const { runService } = await import('./run-service.ts');
    await runService();
  },
};

const migrateCommand: Command = {
  name: 'migrate',
  summary: 'make or change the tables of the database',
  help: `Usage: trueward-service migrate

The start does this too; run it before where several processes start at once, or
where the service has no right to change tables. Doing it again changes nothing.`,
  async run(args) {
    readArguments(args, {});
    await withDatabase(async ({ migrated }) => tell({ migrated }));
  },
};

/** All commands of `trueward-service`, as help shows them. */
export const commands: readonly Command[] = [
  startCommand,
  configCommand,
  migrateCommand,
  ...keyCommands,
  inviteUserCommand,
  rotateReceiptKeyCommand,
  ...masterKeyCommands,
  listenCommand,
  exportCommand,
  importCommand,
  archiveCommand,
  doctorCommand,
];
