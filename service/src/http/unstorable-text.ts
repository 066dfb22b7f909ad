/**
 * Finds a string that PostgreSQL cannot store (U+0000, an unpaired surrogate) in a parsed body and
 * hands back the JSON pointer to it. One such string would otherwise fail a whole group commit.
 *
 * Walks without recursion: how deep a body is nested is up to the client.
 */
export function findUnstorableText(value: unknown): string | undefined {
  for (const visited of walk(value)) {
    const { name, value: found } = visited;
    if (!isStorable(name) || (typeof found === 'string' && !isStorable(found)))
      return pointerTo(visited);
  }
  return undefined;
}

/** Whether objects and arrays are nested more than `most` levels deep. */
export function isDeeper(value: unknown, most: number): boolean {
  for (const { value: found, depth } of walk(value))
    if (depth >= most && typeof found === 'object' && found !== null) return true;
  return false;
}

/** A quick look at the JSON text: only escapes can produce such strings, so most bodies need no walk. */
export const mayBeUnstorable = (json: string): boolean => /\\u(?:0000|d[89a-f])/i.test(json);

/** A quick look at the JSON text: what opens fewer objects and arrays is not nested deeper. */
export function mayBeDeeper(json: string, most: number): boolean {
  let opened = 0;
  for (const bracket of ['{', '['])
    for (let at = json.indexOf(bracket); at !== -1; at = json.indexOf(bracket, at + 1))
      if ((opened += 1) > most) return true;
  return false;
}

/** A value in a body, and where it is. */
interface Visited {
  name: string;
  value: unknown;
  depth: number;
  parent: Visited | undefined;
}

/** Depth first; the children of a value come after it has been handed out. */
function* walk(root: unknown): Generator<Visited> {
  const waiting: Visited[] = [{ name: '', value: root, depth: 0, parent: undefined }];
  for (let next = waiting.pop(); next; next = waiting.pop()) {
    yield next;
    const { value, depth } = next;
    if (typeof value !== 'object' || value === null) continue;
    for (const [name, inner] of Object.entries(value).toReversed())
      waiting.push({ name, value: inner, depth: depth + 1, parent: next });
  }
}

function pointerTo(visited: Visited): string {
  const names: string[] = [];
  for (let at: Visited | undefined = visited; at?.parent; at = at.parent) names.unshift(at.name);
  return names.map((name) => `/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');
}

const isStorable = (text: string): boolean => !text.includes('\0') && !/\p{Surrogate}/u.test(text);
