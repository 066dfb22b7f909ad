type Members = Record<string, unknown>;

const setByService = ['id', 'environment', 'created_at', 'updated_at', 'review', 'actor'];

/** The changes of an edited record: fields that differ, and `null` for those that were cleared. */
export function changesOf(before: Members, after: Members): Members {
  const cleaned = omitEmpty(after);
  const names = new Set([...Object.keys(before), ...Object.keys(cleaned)]);
  const changes: Members = {};
  for (const name of names) {
    if (setByService.includes(name)) continue;
    if (isEqual(before[name], cleaned[name])) continue;
    changes[name] = cleaned[name] ?? null;
  }
  return changes;
}

/** A record without its empty form fields. */
export function omitEmpty(record: Members): Members {
  return Object.fromEntries(
    Object.entries(record).flatMap(([name, value]) => {
      const kept = omitEmptyValue(value);
      return kept === undefined ? [] : [[name, kept]];
    }),
  );
}

function omitEmptyValue(value: unknown): unknown {
  if (value === null || value === '') return undefined;
  if (value instanceof Date) return value.toISOString();
  if (typeof value !== 'object' || Array.isArray(value)) return value;
  const inside = omitEmpty(value as Members);
  // A group whose fields were all cleared is omitted.
  const isEmptied = Object.keys(inside).length === 0 && Object.keys(value as Members).length > 0;
  return isEmptied ? undefined : inside;
}

function isEqual(a: unknown, b: unknown): boolean {
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return a === b;
  const [left, right] = [a as Members, b as Members];
  const names = new Set([...Object.keys(left), ...Object.keys(right)]);
  return [...names].every((name) => isEqual(left[name], right[name]));
}
