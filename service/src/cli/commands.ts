import { archiveCommand } from './archive.ts';
import { configCommand } from './config.ts';
import { doctorCommand } from './doctor.ts';
import { exportCommand } from './export.ts';
import { importCommand } from './import.ts';
import { keyCommands } from './keys.ts';
import { listenCommand } from './listen.ts';
import { masterKeyCommands } from './master-key.ts';
import { migrateCommand } from './migrate.ts';
import { rotateReceiptKeyCommand } from './receipt-keys.ts';
import { startCommand } from './start.ts';
import { inviteUserCommand } from './users.ts';
import type { Command } from './command.ts';

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
