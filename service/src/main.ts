#!/usr/bin/env node
import { commands } from './program/cli/commands.ts';
import { runCommand } from './program/cli/command.ts';

// The files that the service creates, including exports and archives, contain rewards, secrets and user references.
// Other users on this machine must not be able to read or write them.
process.umask(0o077);

// `trueward-service doctor | head` closes the pipe early (EPIPE), which is not an error.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error;
});

process.exitCode = await runCommand(commands, process.argv.slice(2));
