interface Difference {
  name: string;
  /** Undefined if the field was added. */
  from: string | undefined;
  /** Undefined if the field was removed. */
  to: string | undefined;
}

const ignoredFields = ['id', 'environment', 'created_at', 'updated_at'];

/** Returns the fields that differ between two versions of an object, formatted as text. */
export function findDifferences(before: object = {}, after: object = {}): Difference[] {
  const [oldFields, newFields] = [before, after] as Record<string, unknown>[];
  const names = new Set([...Object.keys(before), ...Object.keys(after)]);
  return [...names]
    .filter((name) => !ignoredFields.includes(name))
    .map((name) => ({
      name,
      from: formatField(oldFields?.[name]),
      to: formatField(newFields?.[name]),
    }))
    .filter(({ from, to }) => from !== to);
}

const formatField = (value: unknown): string | undefined =>
  typeof value === 'string' || value === undefined ? value : JSON.stringify(value);
