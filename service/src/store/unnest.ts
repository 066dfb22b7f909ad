/** A column of rows that are inserted together, and how to read its value from an item. */
export interface Column<Item> {
  name: string;
  type: 'text' | 'jsonb' | 'integer' | 'bigint' | 'boolean' | 'double precision' | 'timestamptz';
  read(item: Item): string | number | boolean | object | null | undefined;
}

/**
 * A select list that reads one array per column in step, from parameter `$first` on. In FROM, as
 * `unnest($1, $2)`, each array would be copied before the first row is read.
 */
export const unnest = <Item>(columns: readonly Column<Item>[], first: number): string =>
  columns
    .map(({ name, type }, index) => {
      const array = `$${first + index}`;
      return type === 'jsonb'
        ? `unnest(${array}::text[])::jsonb AS ${name}`
        : `unnest(${array}::${type}[]) AS ${name}`;
    })
    .join(', ');

/** The arrays for {@link unnest}: one per column. `timestamptz` columns are read as unix milliseconds. */
export const arraysOf = <Item>(
  columns: readonly Column<Item>[],
  items: readonly Item[],
): unknown[][] =>
  columns.map(({ type, read }) =>
    items.map((item) => {
      const value = read(item);
      if (value == null) return null;
      if (type === 'timestamptz') return new Date(value as number).toISOString();
      return type === 'jsonb' ? JSON.stringify(value) : value;
    }),
  );
