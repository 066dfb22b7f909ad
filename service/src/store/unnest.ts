import { formatInstant } from '../platform/instant.ts';

/** A column of a multi-row insert, and how to read its value from an item. */
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
  read(item: Item): string | number | boolean | object | null | undefined;
}

/**
 * Builds a select list that unnests one array per column in parallel. The arrays are the parameters that start at
 * `$first`. If `unnest` were in FROM, PostgreSQL would copy each array before it returns the first row.
 */
export const unnest = <Item>(columns: readonly Column<Item>[], first: number): string =>
  columns
    .map(({ name, type }, index) => `${unnestAs(type, `$${first + index}`)} AS ${name}`)
    .join(', ');

/**
 * Casts each array rather than its elements. Citus evaluates some casts in advance, and would then reject a set of
 * elements.
 */
function unnestAs(type: Column<unknown>['type'], param: string): string {
  if (type === 'text') return `json_array_elements_text(${param}::json)`;
  if (type === 'jsonb') return `nullif(jsonb_array_elements(${param}::text::jsonb), 'null')`;
  return `unnest(${param}::${type}[])`;
}

/**
 * Selects `list` for the account `$1`, from the account's row in `accounts`. On Citus, this keeps a multi-row insert on
 * the shard of the account. If there were no table to select from, the rows would be copied through the coordinator and
 * committed in two phases, and a decision would take 3.8 ms instead of 2.7. If the account has no row, nothing is
 * stored: see {@link checkStored}.
 */
export const forAccount = (list: string): string =>
  `SELECT account_id, ${list} FROM accounts WHERE account_id = $1`;

/** @throws Error when an insert with {@link forAccount} has not stored all rows, because the account has no row. */
export function checkStored(accountId: string, stored: number | undefined, expected: number): void {
  if (stored === expected) return;
  throw new Error(
    `Stored ${stored ?? 0} of ${expected} rows: the account ${accountId} is missing in the table accounts.`,
  );
}

/**
 * Returns the parameters for {@link unnest}: one array per column. Strings and JSON values are sent as a JSON array,
 * because escaping them for an array literal would take about twice as long. For `timestamptz` columns, `read`
 * returns Unix milliseconds.
 *
 * @throws RangeError for an invalid time.
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
  // JSON would escape an unpaired surrogate, which PostgreSQL rejects.
  if (typeof value === 'string') return value.toWellFormed();
  if (typeof value === 'number' && type === 'timestamptz') return formatInstant(value);
  return value ?? null;
}
