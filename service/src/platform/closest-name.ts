/** Returns the number of single-character edits that turn one name into the other (Levenshtein distance). */
function countEdits(a: string, b: string): number {
  let previous = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (let row = 1; row <= a.length; row += 1) {
    const current = [row];
    for (let column = 1; column <= b.length; column += 1) {
      const substitution = (previous[column - 1] ?? 0) + (a[row - 1] === b[column - 1] ? 0 : 1);
      const insertion = (current[column - 1] ?? 0) + 1;
      const deletion = (previous[column] ?? 0) + 1;
      current.push(Math.min(substitution, insertion, deletion));
    }
    previous = current;
  }
  return previous[b.length] ?? 0;
}

/**
 * Returns a function that counts the characters that a name has more or fewer of than `name`, in time in proportion to its
 * length. Each edit changes at most one character in each direction, so there are at least as many edits.
 */
function createDifference(name: string): (candidate: string) => number {
  const counts = new Int32Array(128);
  const add = (text: string, amount: number): void => {
    for (let at = 0; at < text.length; at += 1) {
      const code = text.charCodeAt(at) & 127;
      counts[code] = (counts[code] ?? 0) + amount;
    }
  };
  add(name, 1);
  return (candidate) => {
    add(candidate, -1);
    let [missing, extra] = [0, 0];
    for (const count of counts) {
      if (count > 0) missing += count;
      else extra -= count;
    }
    add(candidate, 1);
    return Math.max(missing, extra);
  };
}

/** How many names are compared in full. Anyone may ask with any name, and an account may have a thousand placements. */
const maxCompared = 20;

/** Returns the name that was probably meant, or `undefined` if none is similar enough. */
export function findClosestName(name: string, names: Iterable<string>): string | undefined {
  const lowerName = name.toLowerCase();
  const difference = createDifference(lowerName);
  let closest: string | undefined;
  // A third of the characters may differ.
  let fewestEdits = Math.floor(name.length / 3) + 1;
  const similar = [...names]
    .map((candidate) => ({ candidate, edits: difference(candidate.toLowerCase()) }))
    .filter(({ edits }) => edits < fewestEdits)
    .sort((a, b) => a.edits - b.edits);
  for (const { candidate } of similar.slice(0, maxCompared)) {
    const edits = countEdits(lowerName, candidate.toLowerCase());
    if (edits >= fewestEdits) continue;
    fewestEdits = edits;
    closest = candidate;
  }
  return closest;
}
