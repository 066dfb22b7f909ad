/**
 * JSON of ASCII alone, the rest of it escaped: so many characters are so many bytes, and to count them
 * or to write them nobody has to join the parts of a text first.
 */
export const asciiJson = (value: unknown): string =>
  JSON.stringify(value).replace(/[\x80-\uffff]/g, escape);

const escape = (unit: string): string => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;
