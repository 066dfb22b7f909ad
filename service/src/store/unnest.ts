/**
 * A select list that reads arrays in step, from parameter `first` on; JSON comes as text. In FROM, as
 * `unnest($1, $2)`, each array would be copied before the first row is read.
 */
export const unnest = (columns: readonly { name: string; type: string }[], first: number): string =>
  columns
    .map(({ name, type }, index) => {
      const array = `$${first + index}`;
      return type === 'jsonb'
        ? `unnest(${array}::text[])::jsonb AS ${name}`
        : `unnest(${array}::${type}[]) AS ${name}`;
    })
    .join(', ');
