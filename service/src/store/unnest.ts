import { formatInstant } from '../platform/time.ts';

/** A column of a multi-row insert. */
export interface Column<Item> {
  name: string;
  type:
    | 'text'
    | 'uuid'
    | 'jsonb'
    | 'integer'
    | 'bigint'
    | 'boolean'
    | 'double precision'
    | 'timestamptz';
  /** Returns the column's value for an item. */
  read(item: Item): string | number | boolean | object | null | undefined;
}

/**
 * Builds a select list that unnests one array per column in parallel. The arrays are the parameters from `$first`. The
 * list avoids `unnest` in FROM, because PostgreSQL would copy each array before it returns the first row.
 */
export const unnest = <Item>(columns: readonly Column<Item>[], first: number): string =>
  columns
    .map(({ name, type }, index) => `${unnestAs(type, `$${first + index}`)} AS ${name}`)
    .join(', ');

/** Casts the array instead of its elements, because Citus rejects some casts of sets. */
function unnestAs(type: Column<unknown>['type'], param: string): string {
  if (type === 'text') return `json_array_elements_text(${param}::json)`;
  if (type === 'jsonb') return `nullif(jsonb_array_elements(${param}::text::jsonb), 'null')`;
  return `unnest(${param}::${type}[])`;
}

/**
 * Builds a query that selects `list` from the row for account `$1` in `accounts`. With this row as the source, Citus
 * runs a multi-row insert directly on the account's shard. Without a table in FROM, Citus would copy the rows through
 * the coordinator and use a two-phase commit, and a decision would take 3.8 ms instead of 2.7 ms. Inserts nothing if
 * the account has no row: see {@link checkStored}.
 */
export const forAccount = (list: string): string =>
  `SELECT account_id, ${list} FROM accounts WHERE account_id = $1`;

/**
 * @throws Error when an insert with {@link forAccount} did not store all items because the account has no row in
 * `accounts`.
 */
export function checkStored(accountId: string, stored: number | undefined, expected: number): void {
  if (stored === expected) return;
  throw new Error(
    `Stored ${stored ?? 0} of ${expected} rows. Account ${accountId} does not exist in the accounts table.`,
  );
}

/**
 * Builds the parameters for {@link unnest}, one array per column. Strings and JSON values are sent as a JSON array,
 * because escaping them for an array literal takes about twice as long. The `read` function of a `timestamptz` column
 * returns Unix milliseconds.
 *
 * @throws RangeError when a time is invalid.
 */
export const buildArrays = <Item>(
  columns: readonly Column<Item>[],
  items: readonly Item[],
): unknown[] =>
  columns.map(({ type, read }) => {
    const values = items.map((item) => toParameter(type, read(item)));
    return type === 'text' || type === 'jsonb' ? JSON.stringify(values) : values;
  });

function toParameter(
  type: Column<unknown>['type'],
  value: ReturnType<Column<unknown>['read']>,
): unknown {
  // Replaces unpaired surrogates, which PostgreSQL rejects.
  if (typeof value === 'string') return value.toWellFormed();
  if (typeof value === 'number' && type === 'timestamptz') return formatInstant(value);
  return value ?? null;
}
