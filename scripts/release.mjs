/**
 * `npm run release` prepares a release. It runs `changeset version`, updates the other files that contain the version,
 * builds the packages and runs all checks. `changeset publish` publishes the release. See `--help`.
 */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { readOptions } from './lib/read-options.mjs';
import { root, run, tool } from './lib/run.mjs';

const options = readOptions({
  name: 'release',
  about: `Applies the changesets in .changeset: writes the new version to package.json and CHANGELOG.md
(\`changeset version\`), the starter, the Cocos sample and README.md. Then builds everything and
runs all checks. A version that has no tag has not been published yet, so it is not bumped.
Publishes nothing, but prints the commands that do.`,
  options: { 'dry-run': 'prints the next version and changes nothing' },
});

/** Files outside the workspaces that depend on `trueward`. */
const dependents = [
  'create-trueward/templates/with-server/package.json',
  'create-trueward/templates/without-server/package.json',
  'demo/cocos/package.json',
];
const changeset = tool('@changesets/cli', 'changeset');

try {
  await release(options['dry-run']);
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}

/** @param {boolean} isDryRun */
async function release(isDryRun) {
  const currentVersion = readVersion();
  const isPublished =
    (await readOutput(['git', 'tag', '--list', `trueward@${currentVersion}`])) !== '';
  if (isDryRun && isPublished) return execute([...changeset, 'status', '--verbose']);
  if (!isPublished) {
    console.log(
      `trueward and create-trueward: ${currentVersion} (not published: there is no tag trueward@${currentVersion})`,
    );
    rejectChangesets(currentVersion);
    if (isDryRun) return;
  }
  if ((await readOutput(['git', 'status', '--porcelain'])) !== '')
    throw new Error('There are uncommitted changes: commit or discard them first.');

  if (isPublished) {
    await execute([...changeset, 'version']);
    if (readVersion() === currentVersion)
      throw new Error('Nothing to release: there are no changesets in .changeset.');
    for (const file of dependents) updateDependency(file, currentVersion, readVersion());
    await execute(['npm', 'install', '--package-lock-only', '--no-audit', '--no-fund']);
  }
  for (const script of ['build', 'script-tags', 'format', 'check'])
    await execute(['npm', 'run', script]);
  console.log(`
Commit this as “Release ${readVersion()}”. Then publish it from a CI job that has the permission
id-token: write, so that npm signs a provenance statement for the packages:

  npm ci && npm run build
  NPM_CONFIG_PROVENANCE=true npx changeset publish
  git push --follow-tags`);
  if (!('repository' in readManifest()))
    console.log(
      '\nnpm rejects provenance without `repository`: add it to both package.json files.',
    );
}

/**
 * Throws if there are changesets. A changeset describes a change since the last published version, so there must be none
 * before the first version is published.
 *
 * @param {string} unpublishedVersion
 */
function rejectChangesets(unpublishedVersion) {
  const files = readdirSync(join(root, '.changeset')).filter(
    (name) => name.endsWith('.md') && name !== 'README.md',
  );
  if (files.length === 0) return;
  throw new Error(
    `${unpublishedVersion} is not published yet: describe these changes in its section of CHANGELOG.md, and ` +
      `delete the changesets ${files.join(', ')}.`,
  );
}

/**
 * @param {string} file
 * @param {string} oldVersion
 * @param {string} newVersion
 */
function updateDependency(file, oldVersion, newVersion) {
  const path = join(root, file);
  const text = readFileSync(path, 'utf8');
  const updatedText = text
    .replace(`"trueward": "${oldVersion}"`, `"trueward": "${newVersion}"`)
    .replace(`"trueward": "^${oldVersion}"`, `"trueward": "^${newVersion}"`);
  if (updatedText === text) throw new Error(`${file} does not depend on trueward ${oldVersion}.`);
  writeFileSync(path, updatedText);
}

function readManifest() {
  return JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
}

/** @returns {string} */
function readVersion() {
  return readManifest().version;
}

/** @param {string[]} command */
async function execute(command) {
  const { code } = await run(command, { show: true });
  if (code !== 0) throw new Error(`\`${command.join(' ')}\` failed; see the output above.`);
}

/** @param {string[]} command */
async function readOutput(command) {
  return (await run(command)).output.trim();
}
