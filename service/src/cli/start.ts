import { type Command, readArguments } from './command.ts';
import { environmentHelp } from './environment-help.ts';

export const startCommand: Command = {
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
