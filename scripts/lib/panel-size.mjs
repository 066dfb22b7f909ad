import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { root } from './run.mjs';

const folder = join(root, 'service/dist/panel');
/** What is loaded until the first page stands: the panel, the overview and its plots. */
const firstPage = [
  'service/panel/index.html',
  'src/overview/overview.tsx',
  'src/overview/plots.tsx',
];

/**
 * How many bytes the administration panel loads until its first page stands, each file compressed
 * with gzip on its own, as the service sends it.
 */
export function panelSize() {
  /** @type {Record<string, { file: string, src?: string, imports?: string[], css?: string[] }>} */
  const manifest = JSON.parse(readFileSync(join(folder, 'manifest.json'), 'utf8'));
  const wanted = new Set(firstPage.map((name) => find(manifest, name)));
  for (const key of wanted) for (const each of manifest[key]?.imports ?? []) wanted.add(each);
  const files = [...wanted].flatMap((key) => [manifest[key]?.file, ...(manifest[key]?.css ?? [])]);
  return ['index.html', ...files]
    .filter((file) => file !== undefined)
    .map((file) => gzipSync(readFileSync(join(folder, file)), { level: 9 }).length)
    .reduce((sum, bytes) => sum + bytes, 0);
}

/**
 * @param {Record<string, unknown>} manifest
 * @param {string} name
 */
function find(manifest, name) {
  const key = Object.keys(manifest).find((each) => name.endsWith(each) || each.endsWith(name));
  if (key === undefined) throw new Error(`The panel has no ${name}.`);
  return key;
}
