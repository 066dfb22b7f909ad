import { readSettings, unknownSettings } from '../config/read-settings.ts';
import type { Setting } from '../config/setting.ts';
import { settings, settingList } from '../config/settings.ts';
import { type Command, readArguments, printMessage, printResult } from './command.ts';

export const configCommand: Command = {
  name: 'config',
  summary: 'show the effective configuration, without secrets',
  help: `Usage: trueward-service config

Prints one line of JSON per setting: its value, and whether that comes from the environment, from the
file in TRUEWARD_CONFIG or from the default. Secrets are shown as "…". If the configuration is invalid,
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
    for (const name of unknownSettings(process.env))
      printMessage(`${name} is not a known setting and is ignored.`);
  },
};

const width = Math.max(...settingList.map(([name]) => name.length)) + 2;

const lines = settingList.map(([name, { about, fallback }]) => {
  const shown = fallback === undefined ? '' : ` (default ${fallback})`;
  return `  ${name.padEnd(width)}${about}${shown}`;
});

/** The environment variables that configure every command. */
export const environmentHelp = `Environment\n${lines.join('\n')}\n`;
