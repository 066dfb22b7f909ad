/** `npm run sizes` measures the download sizes. See `--help`. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { format } from 'prettier';
import { readOptions } from './lib/read-options.mjs';
import { root, run, tool } from './lib/run.mjs';

const { check } = readOptions({
  name: 'sizes',
  about: `Measures the download sizes of the built packages with size-limit, and writes them to README.md. Fails if a size is
over its limit in scripts/size-limit.mjs.`,
  options: { check: 'writes nothing, and fails if README.md is out of date' },
});

/** @typedef {{ name: string, passed: boolean, size: number, sizeLimit: number }} Part */

const parts = await measureSizes();
for (const { name, size, sizeLimit } of parts)
  console.log(`${name}: ${size} bytes of ${sizeLimit}`);
for (const { name, size, sizeLimit } of parts.filter(({ passed }) => !passed)) {
  console.error(`${name} is ${size - sizeLimit} bytes over its limit (scripts/size-limit.mjs).`);
  process.exitCode = 1;
}

const readmePath = join(root, 'README.md');
const readme = readFileSync(readmePath, 'utf8');
const block = /(?<=<!-- sizes -->\n)[^]*(?=<!-- \/sizes -->)/;
if (!block.test(readme))
  throw new Error('README.md has no <!-- sizes --> … <!-- /sizes --> block.');
const rows = parts
  .filter(({ name }) => !name.startsWith('administration panel'))
  .map(({ name, size }) => `| ${name} | ${(size / 1000).toFixed(1)} kB |`);
const table = ['| Part | Size |', '| --- | ---: |', ...rows].join('\n');
const text = await format(
  readme.replace(block, () => `\n${table}\n\n`),
  { parser: 'markdown', singleQuote: true, printWidth: 100 },
);
if (!check) writeFileSync(readmePath, text);
else if (text !== readme) {
  console.error('The sizes in README.md are out of date: run `npm run build && npm run sizes`.');
  process.exitCode = 1;
}

/** @returns {Promise<Part[]>} */
async function measureSizes() {
  const command = [...tool('size-limit'), '--config', 'scripts/size-limit.mjs', '--json'];
  const { output } = await run(command);
  try {
    const result = JSON.parse(output);
    if (Array.isArray(result)) return result;
  } catch {
    // Not JSON: the error below contains the output.
  }
  throw new Error(`size-limit failed. Run \`npm run build\` first, if you haven't.\n${output}`);
}
