/**
 * JSON as `JSON.stringify()` writes it for plain data, but out of the page's reach: that function calls
 * every `toJSON()` it finds, and Prototype.js up to 1.6 gives one to all arrays, which turns them into
 * text. Only primitives are left to it here; a member that is undefined is left out.
 */
export const toJson = (value: unknown): string => {
  if (Array.isArray(value)) return `[${value.map(toJson).join()}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null';
  const members = Object.entries(value).filter(([, member]) => member !== undefined);
  return `{${members.map(([name, member]) => `${JSON.stringify(name)}:${toJson(member)}`).join()}}`;
};
