interface Difference {
  name: string;
  /** Absent: the member was added. */
  from: string | undefined;
  /** Absent: the member was removed. */
  to: string | undefined;
}

const ignoredMembers = ['id', 'environment', 'created_at', 'updated_at'];

/** The members in which two versions of an object differ, as text. Pure. */
export function differences(before: object = {}, after: object = {}): Difference[] {
  const [was, is] = [before, after] as Record<string, unknown>[];
  const names = new Set([...Object.keys(before), ...Object.keys(after)]);
  return [...names]
    .filter((name) => !ignoredMembers.includes(name))
    .map((name) => ({ name, from: asText(was?.[name]), to: asText(is?.[name]) }))
    .filter(({ from, to }) => from !== to);
}

const asText = (value: unknown): string | undefined =>
  typeof value === 'string' || value === undefined ? value : JSON.stringify(value);
