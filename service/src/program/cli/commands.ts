import { readSettings, findUnknownSettings } from '../config/read-settings.ts';
import type { Setting } from '../config/settings.ts';
import { settings } from '../config/settings.ts';
import { archiveCommand } from './archive.ts';
import { doctorCommand } from './doctor.ts';
import { copyCommand } from './copy.ts';
import { keyCommands } from './keys.ts';
import { listenCommand } from './listen.ts';
import { masterKeyCommands, rotateReceiptKeyCommand } from './rotate-keys.ts';
import { playerCommands } from './players.ts';
import { inviteUserCommand } from './users.ts';
import {
  type Command,
  printMessage,
  printResult,
  readArguments,
  environmentHelp,
} from './command.ts';
import { withDatabase } from './with-database.ts';

const startCommand: Command = {
  name: 'start',
  summary: 'run the service until SIGTERM or Ctrl-C',
  help: `Usage: trueward-service start

Prints one line of JSON, {"ready":true,"url":…}, when the service is ready. Logs go to standard error.

${environmentHelp}`,
  async run(args) {
    readArguments(args, {});
    // Imported lazily, because loading the whole service takes longer than running most other commands.
    const { runService } = await import('./run-service.ts');
    await runService();
  },
};

const configCommand: Command = {
  name: 'config',
  summary: 'show the effective configuration, without secrets',
  help: `Usage: trueward-service config

Prints one line of JSON per setting: its name, value and origin. The origin is environment, file (the
file in TRUEWARD_CONFIG), default or unset. Secrets are shown as "…". If the configuration is invalid,
the message lists every problem and the exit code is 1.`,
  async run(args) {
    readArguments(args, {});
    for (const { name, value, origin } of readSettings(process.env)) {
      const { secret }: Setting = settings[name];
      printResult({
        name,
        value: secret === true && value !== undefined ? '…' : (value ?? null),
        origin,
      });
    }
    for (const name of findUnknownSettings(process.env))
      printMessage(`${name} is not a known setting and is ignored.`);
  },
};

const migrateCommand: Command = {
  name: 'migrate',
  summary: 'create or update the database schema',
  help: `Usage: trueward-service migrate

The start command does this too. Run migrate first if several processes start at the same time, or if
the service's database user is not allowed to change tables. Running it again is a no-op.`,
  async run(args) {
    readArguments(args, {});
    await withDatabase(
      async ({ appliedMigrations }) => printResult({ migrated: appliedMigrations }),
      { creates: true },
    );
  },
};

/** All commands of `trueward-service`, in the order in which the help lists them. */
export const commands: readonly Command[] = [
  startCommand,
  configCommand,
  migrateCommand,
  ...keyCommands,
  inviteUserCommand,
  rotateReceiptKeyCommand,
  ...masterKeyCommands,
  listenCommand,
  copyCommand,
  archiveCommand,
  ...playerCommands,
  doctorCommand,
];
