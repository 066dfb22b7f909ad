/**
 * `npm run release`: makes the versions that `.changeset` asks for, and everything that is published. It
 * publishes nothing: it prints the commands. See `--help`.
 */
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { closeChangelog, nextVersion, readChangeset } from './lib/changesets.mjs';
import { root, run } from './lib/run.mjs';

const help = `npm run release [-- --dry-run]

Reads the files of .changeset, writes the new versions into package.json, the starter
and CHANGELOG.md, builds, runs all checks, and packs into release/. Commit that, and
publish by the printed commands, in a CI job that may ask for an identity token
(permissions: id-token: write): npm then signs where the packages were built.

  --dry-run   says the versions, and changes nothing.`;

const packages = { trueward: '.', 'create-trueward': 'create-trueward' };
const given = process.argv.slice(2);
if (given.includes('--help')) {
  console.log(help);
  process.exit();
}

try {
  await release(given.includes('--dry-run'));
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}

/** @param {boolean} isDryRun */
async function release(isDryRun) {
  const folder = join(root, '.changeset');
  const files = readdirSync(folder).filter((file) => file.endsWith('.md') && file !== 'README.md');
  const changesets = files.map((file) => readChangeset(read(join('.changeset', file)), file));
  const unknown = changesets
    .flatMap(({ bumps }) => Object.keys(bumps))
    .find((name) => !(name in packages));
  if (unknown !== undefined)
    throw new Error(
      `There is no package ${unknown}; there are ${Object.keys(packages).join(', ')}.`,
    );
  if (changesets.length === 0) throw new Error('Nothing to release: .changeset has no changeset.');

  const versions = Object.entries(packages).map(([name, path]) => {
    const wanted = changesets.flatMap(({ bumps }) => bumps[name] ?? []);
    const { version } = JSON.parse(read(join(path, 'package.json')));
    return { name, path, version, next: nextVersion(version, wanted) };
  });
  for (const { name, version, next } of versions) console.log(`${name}: ${version} → ${next}`);
  if (isDryRun) return;
  if ((await output(['git', 'status', '--porcelain'])) !== '')
    throw new Error('There are changes that are not committed: commit or remove them first.');

  for (const { path, version, next } of versions)
    replace(join(path, 'package.json'), `"version": "${version}"`, `"version": "${next}"`);
  const [sdk = { version: '', next: '' }] = versions;
  replace(
    'create-trueward/template/package.json',
    `"trueward": "^${sdk.version}"`,
    `"trueward": "^${sdk.next}"`,
  );
  const date = new Date().toISOString().slice(0, 10);
  const texts = changesets.map(({ text }) => text);
  write('CHANGELOG.md', closeChangelog(read('CHANGELOG.md'), { version: sdk.next, date, texts }));
  for (const file of files) rmSync(join(folder, file));
  await must(['npm', 'install', '--package-lock-only', '--no-audit', '--no-fund']);
  await must(['npm', 'run', 'build']);
  await must(['npm', 'run', 'script-tags']);
  await must(['npm', 'run', 'check']);
  mkdirSync(join(root, 'release'), { recursive: true });
  for (const { path } of versions)
    await must(['npm', 'pack', `./${path}`, '--pack-destination', 'release']);
  console.log(`\nCommit this as “Release ${sdk.next}”, tag it, and publish from CI:\n`);
  // With `./`, or npm takes it for a repository on GitHub.
  for (const { name, next } of versions)
    console.log(`  npm publish ./release/${name}-${next}.tgz --provenance --access public`);
  if (!('repository' in JSON.parse(read('package.json'))))
    console.log(
      '\nnpm refuses provenance for a package.json without `repository`: add yours to both.',
    );
}

/** @param {string} path */
function read(path) {
  return readFileSync(join(root, path), 'utf8');
}

/**
 * @param {string} path
 * @param {string} text
 */
function write(path, text) {
  writeFileSync(join(root, path), text);
}

/**
 * @param {string} path
 * @param {string} before
 * @param {string} after
 */
function replace(path, before, after) {
  const text = read(path);
  if (!text.includes(before)) throw new Error(`${path} does not say ${before}.`);
  write(path, text.replace(before, after));
}

/** @param {string[]} command */
async function must(command) {
  const { code } = await run(command, { show: true });
  if (code !== 0) throw new Error(`\`${command.join(' ')}\` failed; its message is above.`);
}

/** @param {string[]} command */
async function output(command) {
  return (await run(command)).output.trim();
}
