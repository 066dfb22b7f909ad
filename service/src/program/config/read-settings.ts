import { readFileSync } from 'node:fs';
import type { Setting } from './settings.ts';
import { settingList, type SettingName, settings } from './settings.ts';

/** Thrown when the configuration is invalid. The message lists every problem. */
export class ConfigError extends Error {
  constructor(problems: string[]) {
    super(
      `The configuration is not valid:\n${problems.map((problem) => `  - ${problem}`).join('\n')}`,
    );
    this.name = 'ConfigError';
  }
}

type Variables = Record<string, string | undefined>;

/** A setting's effective value, and where it comes from. */
interface EffectiveSetting {
  name: SettingName;
  value: string | undefined;
  origin: 'environment' | 'file' | 'default' | 'unset';
}

/**
 * Reads every setting from the environment, the file in TRUEWARD_CONFIG, or the default, in that order of precedence.
 *
 * @throws ConfigError when a value is invalid. The message lists every invalid value, without secrets.
 */
export function readSettings(env: Variables): EffectiveSetting[] {
  const problems: string[] = [];
  const file = readFile(env['TRUEWARD_CONFIG'], problems);
  const effectiveSettings = settingList.map(([name, setting]) => {
    const effectiveSetting = resolveSetting(name, setting, env, file);
    const { value } = effectiveSetting;
    if (value !== undefined && !setting.isValid(value)) {
      const displayValue =
        setting.secret === true ? '"…"' : JSON.stringify(removeCredentials(value));
      problems.push(`${name} is ${displayValue}; expected ${setting.expected}.`);
    }
    return effectiveSetting;
  });
  if (problems.length > 0) throw new ConfigError(problems);
  return effectiveSettings;
}

const removeCredentials = (text: string): string => text.replace(/\/\/[^/]*@/, '//…@');

/** Variables that individual commands and `npm start` read and describe in their help. */
const commandVariables = ['TRUEWARD_SECRET_KEY', 'TRUEWARD_NO_OPEN', 'TRUEWARD_START_TIMEOUT_S'];

/** Returns variables whose names start with `TRUEWARD_` but are not settings. These are most likely typos. */
export const findUnknownSettings = (env: Variables): string[] =>
  Object.keys(env).filter(
    (name) =>
      name.startsWith('TRUEWARD_') && !(name in settings) && !commandVariables.includes(name),
  );

function resolveSetting(
  name: SettingName,
  { fallback }: Setting,
  env: Variables,
  file: Variables,
): EffectiveSetting {
  // In Compose files and systemd units, an empty string means that the variable is not set.
  if (env[name]) return { name, value: env[name], origin: 'environment' };
  if (file[name]) return { name, value: file[name], origin: 'file' };
  return { name, value: fallback, origin: fallback === undefined ? 'unset' : 'default' };
}

function readFile(path: string | undefined, problems: string[]): Variables {
  if (!path) return {};
  let value: unknown;
  try {
    value = JSON.parse(readFileSync(path, 'utf8'));
  } catch (error) {
    problems.push(`TRUEWARD_CONFIG cannot be read: ${(error as Error).message}`);
    return {};
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    problems.push(`TRUEWARD_CONFIG must contain a JSON object such as {"PORT": "8700"}.`);
    return {};
  }
  return Object.fromEntries(
    Object.entries(value).map(([name, entry]: [string, unknown]) => {
      // The file cannot refer to another file.
      if (!(name in settings) || name === 'TRUEWARD_CONFIG')
        problems.push(`TRUEWARD_CONFIG sets ${name}, which is not a known setting.`);
      if (!['string', 'number'].includes(typeof entry))
        problems.push(`TRUEWARD_CONFIG must set ${name} to a string or a number.`);
      return [name, String(entry)];
    }),
  );
}
