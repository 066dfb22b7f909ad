/**
 * `npm run api-report` writes the whole public face of the package into `etc/trueward.api.md`, so that
 * a change of it is seen in review; with `--check`, fails where the file differs. Needs what
 * `npm run build` makes.
 */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { format } from 'prettier';
import { parseSync } from 'vite';
import { typeEntries } from './lib/entry-points.mjs';
import { root } from './lib/run.mjs';
import { shakeTypes } from './lib/shake-types.mjs';

const target = join(root, 'etc', 'trueward.api.md');
const report = await describe();
if (!process.argv.includes('--check')) {
  mkdirSync(dirname(target), { recursive: true });
  writeFileSync(target, report);
} else if (!existsSync(target) || readFileSync(target, 'utf8') !== report) {
  console.error(
    'The public face of the package is not what etc/trueward.api.md says. If that is meant, run ' +
      '`npm run build && npm run api-report`, commit the file, and add a changeset.',
  );
  process.exitCode = 1;
}

async function describe() {
  const entries = Object.entries(typeEntries).map(([name, path]) => ({
    name,
    file: join(root, path),
  }));
  const texts = shakeTypes(entries.map(({ file }) => file));
  const sections = [...texts].map(([file, text]) => {
    const name = entries.find((entry) => entry.file === file)?.name;
    const path = relative(join(root, 'dist', 'types'), file);
    const title = name === undefined ? path : `\`${name}\`, ${path}`;
    return {
      order: name === undefined ? `1${path}` : `0${name}`,
      title,
      text: withoutComments(text),
    };
  });
  sections.sort((one, other) => (one.order < other.order ? -1 : 1));
  const parts = sections.map(({ text, title }) => `## ${title}\n\n\`\`\`ts\n${text}\n\`\`\`\n`);
  const intro = `# The public face of trueward

Written by \`npm run api-report\` from what is built: everything that a user of the package can
import, and every type that it leads to, without comments. \`npm run check\` compares.
`;
  return format([intro, ...parts].join('\n'), {
    parser: 'markdown',
    singleQuote: true,
    printWidth: 100,
  });
}

/** @param {string} text */
function withoutComments(text) {
  const { comments } = parseSync('types.d.ts', text);
  const bare = comments.reduceRight(
    (left, { start, end }) => left.slice(0, start) + left.slice(end),
    text,
  );
  return bare.replaceAll(/^export \{\};$/gm, '').replaceAll(/^\s*\n/gm, '');
}
