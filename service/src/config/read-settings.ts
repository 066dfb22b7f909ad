import { readFileSync } from 'node:fs';
import type { Setting } from './setting.ts';
import { settingList, type SettingName, settings } from './settings.ts';

/** The configuration is not one; the message lists everything that is wrong. */
export class ConfigError extends Error {
  constructor(problems: string[]) {
    super(
      `The configuration is not valid:\n${problems.map((problem) => `  - ${problem}`).join('\n')}`,
    );
    this.name = 'ConfigError';
  }
}

type Variables = Record<string, string | undefined>;

/** A setting as it is in force. */
export interface EffectiveSetting {
  name: SettingName;
  value: string | undefined;
  origin: 'environment' | 'file' | 'default' | 'unset';
}

/**
 * What is in force: the environment, else the file that TRUEWARD_CONFIG names, else the default.
 *
 * @throws ConfigError that names every wrong value, without the secret ones.
 */
export function readSettings(env: Variables): EffectiveSetting[] {
  const problems: string[] = [];
  const file = readFile(env['TRUEWARD_CONFIG'], problems);
  const effective = settingList.map(([name, setting]) => {
    const found = find(name, setting, env, file);
    if (found.value !== undefined && !setting.valid(found.value)) {
      const shown =
        setting.secret === true ? '"…"' : JSON.stringify(withoutCredentials(found.value));
      problems.push(`${name} is ${shown}; expected ${setting.expected}.`);
    }
    return found;
  });
  if (problems.length > 0) throw new ConfigError(problems);
  return effective;
}

const withoutCredentials = (text: string): string => text.replace(/\/\/[^/]*@/, '//…@');

/** Used by commands; see their help. */
const commandVariables = ['TRUEWARD_SECRET_KEY'];

/** Variables with our prefix that are not settings: typos, most likely. */
export const unknownSettings = (env: Variables): string[] =>
  Object.keys(env).filter(
    (name) =>
      name.startsWith('TRUEWARD_') && !(name in settings) && !commandVariables.includes(name),
  );

function find(
  name: SettingName,
  { fallback }: Setting,
  env: Variables,
  file: Variables,
): EffectiveSetting {
  // Compose files and unit files set a variable to nothing where they mean that it is not set.
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
    problems.push(`TRUEWARD_CONFIG has to hold an object such as {"PORT": "8700"}.`);
    return {};
  }
  return Object.fromEntries(
    Object.entries(value).map(([name, entry]: [string, unknown]) => {
      // The file cannot name the file.
      if (!(name in settings) || name === 'TRUEWARD_CONFIG')
        problems.push(`TRUEWARD_CONFIG sets ${name}, which is no setting.`);
      if (!['string', 'number'].includes(typeof entry))
        problems.push(`TRUEWARD_CONFIG sets ${name} to no text and no number.`);
      return [name, String(entry)];
    }),
  );
}
