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
 * How many names are compared. Anyone with a publishable key may ask, and an account may have a thousand placements with
 * long names.
 */
const maxCompared = 100;

/** Returns the name that was probably meant, or `undefined` if none is similar enough. */
export function findClosestName(name: string, names: Iterable<string>): string | undefined {
  let closest: string | undefined;
  // A third of the characters may differ.
  let fewestEdits = Math.floor(name.length / 3) + 1;
  let compared = 0;
  for (const candidate of names) {
    if (Math.abs(candidate.length - name.length) >= fewestEdits) continue;
    compared += 1;
    if (compared > maxCompared) break;
    const edits = countEdits(name.toLowerCase(), candidate.toLowerCase());
    if (edits >= fewestEdits) continue;
    fewestEdits = edits;
    closest = candidate;
  }
  return closest;
}
