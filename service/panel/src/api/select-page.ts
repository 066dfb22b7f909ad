import type { GetListParams, GetListResult, RaRecord } from 'react-admin';

/**
 * Filters, sorts and paginates records on the client. An account's configuration is small enough to be fetched in full.
 */
export function selectPage<T extends RaRecord>(
  records: readonly T[],
  { filter = {}, pagination, sort }: GetListParams,
): GetListResult<T> {
  const conditions = Object.entries(filter as Record<string, unknown>);
  const matches = records.filter((record) =>
    conditions.every(([name, value]) => isMatch(record, name, value)),
  );
  const sortedMatches = sort ? matches.toSorted((a, b) => compare(a, b, sort)) : matches;
  const { page, perPage } = pagination ?? { page: 1, perPage: matches.length };
  return { data: sortedMatches.slice((page - 1) * perPage, page * perPage), total: matches.length };
}

/** `q` searches the whole record; all other filters are field values. */
function isMatch(record: RaRecord, name: string, value: unknown): boolean {
  if (value === undefined || value === null || value === '') return true;
  if (name === 'q') {
    return JSON.stringify(Object.values(record))
      .toLowerCase()
      .includes(toText(value).toLowerCase());
  }
  return readValue(record, name) === value;
}

function compare(a: RaRecord, b: RaRecord, { field, order }: { field: string; order: string }) {
  const [left, right] = [readValue(a, field), readValue(b, field)];
  const difference =
    typeof left === 'number' && typeof right === 'number'
      ? left - right
      : toText(left).localeCompare(toText(right), 'en', { numeric: true });
  return order === 'DESC' ? -difference : difference;
}

const toText = (value: unknown): string =>
  typeof value === 'string' || typeof value === 'number' ? String(value) : '';

/** Returns the value at a path, such as `review.status`. */
export const readValue = (record: object, path: string): unknown =>
  path
    .split('.')
    .reduce<unknown>(
      (value, name) =>
        typeof value === 'object' && value !== null
          ? (value as Record<string, unknown>)[name]
          : undefined,
      record,
    );
