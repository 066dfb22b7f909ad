/** A column of a multi-row insert, and how to read its value from an item. */
export interface Column<Item> {
  name: string;
  type: 'text' | 'jsonb' | 'integer' | 'bigint' | 'boolean' | 'double precision' | 'timestamptz';
  read(item: Item): string | number | boolean | object | null | undefined;
}

/**
 * A select list that unnests one array per column in parallel, from parameter `$first` on. In FROM, as
 * `unnest($1, $2)`, PostgreSQL would copy each array before it returns the first row.
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

/** The arrays for {@link unnest}: one per column. For `timestamptz` columns, `read` returns Unix milliseconds. */
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
