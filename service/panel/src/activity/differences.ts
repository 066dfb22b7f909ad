import { formatFieldNumber, getFieldLabel } from '../common/fields.ts';

interface Difference {
  /** The field's label, without its unit. */
  name: string;
  /** Undefined if the field was added. */
  from: string | undefined;
  /** Undefined if the field was removed. */
  to: string | undefined;
}

const ignoredFields = ['id', 'environment', 'created_at', 'updated_at'];

/**
 * Returns the fields that differ between two versions of an object, as text with units. Fields of nested objects are
 * compared one by one.
 */
export function findDifferences(before: object = {}, after: object = {}): Difference[] {
  const [from, to] = [listFields(before), listFields(after)];
  return [...new Set([...from.keys(), ...to.keys()])]
    .map((name) => ({ name, from: from.get(name), to: to.get(name) }))
    .filter((difference) => difference.from !== difference.to);
}

/** The object's fields as text, by label. */
function listFields(record: object): Map<string, string> {
  const fields = Object.entries(record).filter(([name]) => !ignoredFields.includes(name));
  return new Map(fields.flatMap(([name, value]) => listField(name, value)));
}

function listField(name: string, value: unknown, group?: string): [label: string, text: string][] {
  const label = getFieldLabel(name, group);
  if (value === undefined) return [];
  if (typeof value === 'number') return [[label, formatFieldNumber(name, value, group)]];
  if (typeof value === 'string') return [[label, value]];
  if (Array.isArray(value) && value.every((item) => typeof item !== 'object'))
    return [[label, value.join(', ')]];
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    return [[label, JSON.stringify(value)]];
  return Object.entries(value).flatMap(([key, item]) =>
    listField(key, item, name).map(([part, text]): [string, string] => [`${label} ${part}`, text]),
  );
}
