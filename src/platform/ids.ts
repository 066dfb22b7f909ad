/** Makes an id that no one else makes: 32 hexadecimal digits. */
export type NewId = () => string;

/** Random ids. `crypto.randomUUID` is missing on pages without HTTPS, `getRandomValues` never is. */
export const newRandomId: NewId = () =>
  Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) =>
    byte.toString(16).padStart(2, '0'),
  ).join('');
