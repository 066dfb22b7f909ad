#!/usr/bin/env node
import { archiveCommand } from './cli/archive.ts';
import { configCommand } from './cli/config.ts';
import { doctorCommand } from './cli/doctor.ts';
import { exportCommand } from './cli/export.ts';
import { importCommand } from './cli/import.ts';
import { keyCommands } from './cli/keys.ts';
import { listenCommand } from './cli/listen.ts';
import { masterKeyCommands } from './cli/master-key.ts';
import { migrateCommand } from './cli/migrate.ts';
import { rotateReceiptKeyCommand } from './cli/receipt-keys.ts';
import { runCommand } from './cli/run-command.ts';
import { startCommand } from './cli/start.ts';
import { inviteUserCommand } from './cli/users.ts';

// Rewards, secrets and user references: no other user of the machine may read or write the files that the
// service creates, exports and archives included.
process.umask(0o077);

process.exitCode = await runCommand(
  [
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
  ],
  process.argv.slice(2),
);
