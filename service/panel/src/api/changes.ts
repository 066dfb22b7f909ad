type Fields = Record<string, unknown>;

const readOnlyFields = [
  'id',
  'environment',
  'created_at',
  'updated_at',
  'review',
  'actor',
  'etag',
  'phase',
];

/** Returns the changes to an edited record: the fields that differ, with `null` for fields that were cleared. */
export function findChanges(before: Fields, after: Fields): Fields {
  const newFields = omitEmpty(after);
  const names = new Set([...Object.keys(before), ...Object.keys(newFields)]);
  const changes: Fields = {};
  for (const name of names) {
    if (readOnlyFields.includes(name)) continue;
    if (isEqual(before[name], newFields[name])) continue;
    changes[name] = newFields[name] ?? null;
  }
  return changes;
}

/** Returns a record without its empty form fields. */
export function omitEmpty(record: Fields): Fields {
  return Object.fromEntries(
    Object.entries(record).flatMap(([name, value]) => {
      const newValue = omitEmptyValue(value);
      return newValue === undefined ? [] : [[name, newValue]];
    }),
  );
}

function omitEmptyValue(value: unknown): unknown {
  if (value === null || value === '') return undefined;
  if (value instanceof Date) return value.toISOString();
  if (typeof value !== 'object' || Array.isArray(value)) return value;
  const remainingFields = omitEmpty(value as Fields);
  // Omit a group if all of its fields were cleared.
  const isCleared =
    Object.keys(remainingFields).length === 0 && Object.keys(value as Fields).length > 0;
  return isCleared ? undefined : remainingFields;
}

function isEqual(a: unknown, b: unknown): boolean {
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return a === b;
  const [left, right] = [a as Fields, b as Fields];
  const names = new Set([...Object.keys(left), ...Object.keys(right)]);
  return [...names].every((name) => isEqual(left[name], right[name]));
}
