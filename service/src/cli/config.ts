import { readSettings, unknownSettings } from '../config/read-settings.ts';
import type { Setting } from '../config/setting.ts';
import { settings, settingList } from '../config/settings.ts';
import { type Command, readArguments, say, tell } from './command.ts';

export const configCommand: Command = {
  name: 'config',
  summary: 'show the configuration that is in force, without secrets',
  help: `Usage: trueward-service config

Prints one line of JSON for each setting: its value, and whether it comes from the environment, from
the file that TRUEWARD_CONFIG names, or is the default. Secrets are shown as "…". The exit code is 1
when the configuration is not valid; the message then names everything that is wrong.`,
  async run(args) {
    readArguments(args, {});
    for (const { name, value, origin } of readSettings(process.env)) {
      const { secret }: Setting = settings[name];
      tell({ name, value: secret === true && value !== undefined ? '…' : (value ?? null), origin });
    }
    for (const name of unknownSettings(process.env))
      say(`${name} is not a setting and is ignored.`);
  },
};

const width = Math.max(...settingList.map(([name]) => name.length)) + 2;

const lines = settingList.map(([name, { about, fallback }]) => {
  const shown = fallback === undefined ? '' : ` (default ${fallback})`;
  return `  ${name.padEnd(width)}${about}${shown}`;
});

/** The variables that every command reads its configuration from. */
export const environmentHelp = `Environment\n${lines.join('\n')}\n`;
