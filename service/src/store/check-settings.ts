import type { Queries } from './database.ts';

/**
 * The settings on which the service depends, in the form of startup options. They are pinned for each connection, so that
 * defaults of the server, the database and the role don't matter. Behind a pooler, they can't be pinned.
 */
export const pinnedSettings = {
  DateStyle: 'ISO,MDY',
  TimeZone: 'UTC',
  IntervalStyle: 'postgres',
  bytea_output: 'hex',
  standard_conforming_strings: 'on',
  extra_float_digits: '1',
  array_nulls: 'on',
  transform_null_equals: 'off',
  default_transaction_isolation: 'read committed',
  quote_all_identifiers: 'off',
  // The service must hear when a commit was not replicated, which is a warning.
  client_min_messages: 'notice',
} as const;

/** A setting that every connection must have, and how to achieve it. */
interface RequiredSetting {
  name: string;
  isValid(value: string): boolean;
  /** The values that are valid, and what to do. */
  fix: string;
}

const inRole = (setting: string): string =>
  `ALTER ROLE … SET ${setting}, then restart the pooler and the service`;

const exactly = (name: string, required: string): RequiredSetting => ({
  name,
  isValid: (value) => value === required,
  fix: `expected ${required}: ${inRole(`${name} = '${required}'`)}`,
});

const requiredSettings: readonly RequiredSetting[] = [
  {
    name: 'server_encoding',
    isValid: (value) => value === 'UTF8',
    fix: "expected UTF8: create the database with ENCODING 'UTF8' TEMPLATE template0, and move the data with transfer",
  },
  {
    name: 'client_encoding',
    isValid: (value) => /^(?:UTF8|UNICODE)$/i.test(value),
    fix: `expected UTF8: ${inRole("client_encoding = 'UTF8'")}`,
  },
  {
    name: 'DateStyle',
    isValid: (value) => value.startsWith('ISO'),
    fix: `expected ISO: ${inRole("DateStyle = 'ISO'")}`,
  },
  exactly('IntervalStyle', 'postgres'),
  exactly('standard_conforming_strings', 'on'),
  // Otherwise, a missing value in a list would be stored as the text NULL.
  exactly('array_nulls', 'on'),
  exactly('transform_null_equals', 'off'),
  // Locks are taken for what other transactions commit meanwhile, which a snapshot would not show.
  exactly('default_transaction_isolation', 'read committed'),
  exactly('quote_all_identifiers', 'off'),
  {
    name: 'client_min_messages',
    isValid: (value) => value !== 'error',
    fix: `expected notice: ${inRole("client_min_messages = 'notice'")}`,
  },
  // A crash of the server would lose what the service has acknowledged. Operators choose among the other values.
  {
    name: 'synchronous_commit',
    isValid: (value) => value !== 'off',
    fix: `expected on: ${inRole("synchronous_commit = 'on'")}`,
  },
];

/** Thrown when the service can't work with a database's settings. */
export class DatabaseSettingsError extends Error {
  constructor(problems: readonly string[]) {
    super(`The database has unsuitable settings. ${problems.join('. ')}.`);
    this.name = 'DatabaseSettingsError';
  }
}

/**
 * Checks the settings of a connection. With other settings, times would be misread, and text would be lost.
 *
 * @throws DatabaseSettingsError with the remedy for each unsuitable setting
 */
export async function rejectUnsuitableSettings(queries: Pick<Queries, 'query'>): Promise<void> {
  // Compatible servers may lack a setting.
  const columns = requiredSettings.map(
    ({ name }) => `current_setting('${name}', true) AS "${name}"`,
  );
  const [row = {}] = await queries.query<Record<string, string | null>>(
    `SELECT ${columns.join(', ')}`,
  );
  const problems = requiredSettings.flatMap(({ name, isValid, fix }) => {
    const value = row[name] ?? null;
    return value === null || isValid(value) ? [] : [`${name} is ${value}, ${fix}`];
  });
  if (problems.length > 0) throw new DatabaseSettingsError(problems);
}
