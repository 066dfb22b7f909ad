import { settingList } from '../config/settings.ts';

const width = Math.max(...settingList.map(([name]) => name.length)) + 2;

const lines = settingList.map(([name, { about, fallback }]) => {
  const shown = fallback === undefined ? '' : ` (default ${fallback})`;
  return `  ${name.padEnd(width)}${about}${shown}`;
});

/** The variables that every command reads its configuration from. */
export const environmentHelp = `Environment\n${lines.join('\n')}\n`;
