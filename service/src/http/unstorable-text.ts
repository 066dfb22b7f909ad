/**
 * Finds a text that PostgreSQL cannot store (U+0000, half a surrogate pair) and hands back the
 * pointer to it. One such text would otherwise spoil a whole group commit.
 */
export function findUnstorableText(value: unknown, pointer = ''): string | undefined {
  if (typeof value === 'string') return isStorable(value) ? undefined : pointer;
  if (typeof value !== 'object' || value === null) return undefined;
  for (const [name, inner] of Object.entries(value)) {
    const here = `${pointer}/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`;
    const found = isStorable(name) ? findUnstorableText(inner, here) : here;
    if (found !== undefined) return found;
  }
  return undefined;
}

/** Outside of UTF-16 escapes no JSON text can hold them, so most bodies need no walk. */
export const mayBeUnstorable = (json: string): boolean => /\\u(?:0000|d[89a-f])/i.test(json);

const isStorable = (text: string): boolean => !text.includes('\0') && !/\p{Surrogate}/u.test(text);
