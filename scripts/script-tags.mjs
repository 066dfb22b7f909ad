/** `npm run script-tags` writes the script tags of a release to README.md. See `--help`. */
import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { format } from 'prettier';
import { readOptions } from './lib/read-options.mjs';
import { root } from './lib/run.mjs';

readOptions({
  name: 'script-tags',
  about: `Writes the script tags of a release, with their integrity hashes and the content security policy that they require,
to README.md. Only a release runs it: a page that copies the tag loads the published files, not those of
the working tree.`,
});

const readmePath = join(root, 'README.md');
const readme = readFileSync(readmePath, 'utf8');
const block = /(?<=<!-- script-tags -->\n)[^]*(?=<!-- \/script-tags -->)/;
if (!block.test(readme))
  throw new Error('README.md has no <!-- script-tags --> … <!-- /script-tags --> block.');
const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
const cdn = `https://cdn.jsdelivr.net/npm/trueward@${version}/dist/`;
const updatedReadme = readme.replace(block, () => `\n${renderScriptTags()}\n`);
const text = await format(updatedReadme, {
  parser: 'markdown',
  singleQuote: true,
  printWidth: 100,
});

writeFileSync(readmePath, text);

function renderScriptTags() {
  const rows = [
    'trueward.js',
    'trueward-phaser.js',
    'trueward-cocos.js',
    'trueward-web-export.js',
    'trueward-ad-placement.js',
  ].map((file) => `| \`${file}\` | \`${computeIntegrity(file)}\` |`);
  return `\`\`\`html
<script
  async
  src="${cdn}trueward.js"
  integrity="${computeIntegrity('trueward.js')}"
  crossorigin="anonymous"
  data-key="pk_sandbox_…"
  data-service-url="https://play.example.com"
  data-user-ref="player-42"
></script>
\`\`\`

If your page has a content security policy, add these sources:

\`\`\`
script-src ${cdn}; connect-src https://play.example.com;
img-src https://play.example.com; media-src https://play.example.com; frame-src https://play.example.com
\`\`\`

| File (version ${version}) | \`integrity\` |
| --- | --- |
${rows.join('\n')}
`;
}

/** @param {string} file */
function computeIntegrity(file) {
  const hash = createHash('sha384').update(readFileSync(join(root, 'dist', file)));
  return `sha384-${hash.digest('base64')}`;
}
