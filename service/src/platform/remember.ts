/** Longer texts are nobody's usual ones. */
const longest = 512;

/** Remembers what a pure function says of a text that comes again and again: of so many texts at most. */
export function remember<T>(read: (text: string) => T, most = 1_000): (text: string) => T {
  const known = new Map<string, T>();
  return (text) => {
    const found = known.get(text);
    if (found !== undefined) return found;
    const made = read(text);
    if (text.length > longest) return made;
    if (known.size >= most) known.clear();
    known.set(text, made);
    return made;
  };
}

/** Remembers what a pure function says of the number before: several requests come in a millisecond. */
export function rememberLast<T>(read: (value: number) => T): (value: number) => T {
  let last: { value: number; made: T } | undefined;
  return (value) => {
    if (last?.value !== value) last = { value, made: read(value) };
    return last.made;
  };
}
