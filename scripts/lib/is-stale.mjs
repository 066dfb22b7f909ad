import { existsSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './run.mjs';

/**
 * Whether one of the outputs is missing or older than one of the sources.
 *
 * @param {{ sources: readonly string[], outputs: readonly string[] }} part
 */
export function isStale({ sources, outputs }) {
  const built = outputs.map((path) => join(root, path));
  if (!built.every((path) => existsSync(path))) return true;
  const oldest = Math.min(...built.map((path) => statSync(path).mtimeMs));
  return sources.some((path) => newest(join(root, path)) > oldest);
}

/**
 * When something in the folder last changed; 0 when there is nothing.
 *
 * @param {string} path
 * @returns {number}
 */
function newest(path) {
  if (!existsSync(path)) return 0;
  const stats = statSync(path);
  if (!stats.isDirectory()) return stats.mtimeMs;
  const inside = readdirSync(path).filter((name) => !/^(dist|dist-.*|node_modules)$/.test(name));
  return Math.max(0, ...inside.map((name) => newest(join(path, name))));
}
