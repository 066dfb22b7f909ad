/**
 * What a file of `.changeset` says.
 *
 * @typedef {'patch' | 'minor' | 'major'} Bump
 * @typedef {{ bumps: Record<string, Bump>, text: string }} Changeset
 */

const bumps = /** @type {const} */ (['patch', 'minor', 'major']);

/**
 * @param {string} source
 * @param {string} file For messages.
 * @returns {Changeset}
 * @throws Error that says what is wrong with the file.
 */
export function readChangeset(source, file) {
  const [, front, text = ''] = /^---\n([^]*?)\n---\n([^]*)$/.exec(source) ?? [];
  if (front === undefined || text.trim() === '')
    throw new Error(`${file}: expected packages between two lines ---, and a text below.`);
  const entries = front.split('\n').map((line) => {
    const [, name, bump] = /^['"]?([\w@/-]+)['"]?: (\w+)$/.exec(line.trim()) ?? [];
    const known = bumps.find((each) => each === bump);
    if (name === undefined || known === undefined)
      throw new Error(`${file}: expected \`'package': ${bumps.join(' | ')}\`, got \`${line}\`.`);
    return [name, known];
  });
  return { bumps: Object.fromEntries(entries), text: text.trim() };
}

/**
 * The version after the largest bump that changesets ask for; the same one when none does.
 *
 * @param {string} version
 * @param {readonly Bump[]} wanted
 */
export function nextVersion(version, wanted) {
  const largest = bumps.findLast((bump) => wanted.includes(bump));
  const [major = 0, minor = 0, patch = 0] = version.split('.').map(Number);
  if (largest === 'major') return `${major + 1}.0.0`;
  if (largest === 'minor') return `${major}.${minor + 1}.0`;
  return largest === 'patch' ? `${major}.${minor}.${patch + 1}` : version;
}

/**
 * Closes the section of what is not released, and begins a new one.
 *
 * @param {string} changelog
 * @param {{ version: string, date: string, texts: readonly string[] }} release
 */
export function closeChangelog(changelog, { version, date, texts }) {
  const heading = '## Unreleased\n';
  if (!changelog.includes(heading)) throw new Error('CHANGELOG.md has no section “Unreleased”.');
  const summary = texts.map((text) => `${text}\n\n`).join('');
  return changelog.replace(
    heading,
    `${heading}\n## ${version} – ${date}\n\n${summary}`.trimEnd() + '\n',
  );
}
