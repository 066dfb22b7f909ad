#!/usr/bin/env node
import { commands } from './cli/commands.ts';
import { runCommand } from './cli/run-command.ts';

// Rewards, secrets and user references: no other user of the machine may read or write the files that the
// service creates, exports and archives included.
process.umask(0o077);

// `trueward-service doctor | head` closes the pipe early, which is not an error.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error;
});

process.exitCode = await runCommand(commands, process.argv.slice(2));
