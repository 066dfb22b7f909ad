/**
 * Serializes plain data like `JSON.stringify()`, but without calling `toJSON()`: Prototype.js up to 1.6 adds that
 * method to all arrays and turns them into strings. Undefined members are omitted.
 */
export const toJson = (value: unknown): string => {
  if (Array.isArray(value)) return `[${value.map(toJson).join()}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null';
  const members = Object.entries(value).filter(([, member]) => member !== undefined);
  return `{${members.map(([name, member]) => `${JSON.stringify(name)}:${toJson(member)}`).join()}}`;
};
