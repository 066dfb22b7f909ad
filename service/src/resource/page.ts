/** One page of a list; `next_cursor` is the `starting_after` of the next one. */
export interface Page<T> {
  data: T[];
  has_more: boolean;
  next_cursor?: string;
}

/** Makes a page of what was read with one row more than `limit`. */
export function toPage<T extends { id: string }>(rows: readonly T[], limit: number): Page<T> {
  const data = rows.slice(0, limit);
  const last = data.at(-1);
  return rows.length > limit && last
    ? { data, has_more: true, next_cursor: last.id }
    : { data, has_more: false };
}
