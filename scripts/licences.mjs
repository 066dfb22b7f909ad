/**
 * `npm run licences` writes docs/licences.md from package-lock.json; with `--check`, fails where it is not
 * that of the packages that are used. Fails too for a licence that nobody has looked at yet.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { format } from 'prettier';
import { root } from './lib/run.mjs';

/** Free to use, to change and to pass on, also inside a closed game or service. */
const permissive = [
  '(MPL-2.0 OR Apache-2.0)',
  '0BSD',
  'Apache-2.0',
  'BSD',
  'BSD-2-Clause',
  'BSD-3-Clause',
  'BlueOak-1.0.0',
  'CC0-1.0',
  'ISC',
  'MIT',
  'MIT AND ISC AND BSD-3-Clause',
  'PSF-2.0',
  'Python-2.0',
  'Unlicense',
];
/** Asks for the source of changed files of the package itself; of what uses it, nothing. */
const byFile = ['MPL-2.0', 'CC-BY-4.0'];

/**
 * @typedef {{ version?: string, license?: string, dev?: boolean, devOptional?: boolean, link?: boolean,
 *   dependencies?: Record<string, string>, devDependencies?: Record<string, string> }} Locked
 */
/** @type {Record<string, Locked>} */
const locked = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')).packages;
const installed = Object.entries(locked).filter(
  ([path, { link }]) => path.includes('node_modules/') && !link,
);

const strange = installed.filter(
  ([, { license = '' }]) => ![...permissive, ...byFile].includes(license),
);
for (const [path, { license }] of strange)
  console.error(`${path}: the licence ${license ?? 'nobody names'} has to be looked at.`);

const target = join(root, 'docs', 'licences.md');
const text = await format(describe(), { parser: 'markdown', singleQuote: true, printWidth: 100 });
const stale = process.argv.includes('--check') && readFileSync(target, 'utf8') !== text;
if (stale) console.error('docs/licences.md is out of date: run `npm run licences`.');
if (!process.argv.includes('--check')) writeFileSync(target, text);
process.exitCode = stale || strange.length > 0 ? 1 : 0;

function describe() {
  return `# Packages and licences

Written by \`npm run licences\` from \`package-lock.json\`, and checked. Trueward itself is under the MIT licence.

## In your game

What \`npm install trueward\` brings along:

${table('', 'dependencies')}

## In the service

What a running service loads; with what these bring along, ${count(({ dev, devOptional }) => !dev && !devOptional)}.

${table('service', 'dependencies')}

## To build and to test

Nothing of these runs in a game. The panel of the service is built with some of them, which are then part of its files. With all that they bring along, ${count(({ dev, devOptional }) => dev === true || devOptional === true)}.

${['', 'service', 'demo', 'docs']
  .filter((folder) => locked[folder]?.devDependencies)
  .map((folder) => `### ${folder || 'The whole'}\n\n${table(folder, 'devDependencies')}`)
  .join('\n\n')}

## What the licences ask for

All but MPL-2.0 and CC-BY-4.0 ask for no more than their notice. MPL-2.0 asks whoever changes a file of such a package to publish that file; CC-BY-4.0 (a table of browsers, for tools) asks for the name of its author. Both leave what uses them alone.
`;
}

/**
 * The packages that a workspace names, with the version that is installed.
 *
 * @param {string} folder
 * @param {'dependencies' | 'devDependencies'} kind
 */
function table(folder, kind) {
  const rows = Object.keys(locked[folder]?.[kind] ?? {}).map((name) => {
    const found = locked[join(folder, 'node_modules', name)] ?? locked[`node_modules/${name}`];
    return `| \`${name}\` | ${found?.version ?? ''} | ${found?.license ?? ''} |`;
  });
  return ['| Package | Version | Licence |', '| --- | --- | --- |', ...rows].join('\n');
}

/** @param {(entry: Locked) => boolean} isCounted */
function count(isCounted) {
  const licences = installed.flatMap(([, entry]) =>
    isCounted(entry) ? [entry.license ?? 'unknown'] : [],
  );
  const counts = [...new Set(licences)]
    .map((name) => ({ name, number: licences.filter((each) => each === name).length }))
    .toSorted((a, b) => b.number - a.number);
  return `${licences.length} packages: ${counts.map(({ name, number }) => `${number} ${name}`).join(', ')}`;
}
