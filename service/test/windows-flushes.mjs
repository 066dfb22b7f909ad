/**
 * Preloaded into a service, makes its file system refuse what Windows refuses to flush: folders, and files that were
 * opened for reading. A database folder with a file named `unflushable` fails like a broken disk.
 */
import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { join } from 'node:path';

const { fsyncSync, openSync } = fs;
/** @type {Map<number, string | number>} */
const flagsOfOpenFiles = new Map();

fs.openSync = (path, flags, mode) => {
  const descriptor = openSync(path, flags, mode);
  flagsOfOpenFiles.set(descriptor, flags);
  return descriptor;
};

fs.fsyncSync = (descriptor) => {
  const flags = flagsOfOpenFiles.get(descriptor) ?? 'r';
  const isReadOnly =
    typeof flags === 'number' ? (flags & 3) === fs.constants.O_RDONLY : flags === 'r';
  if (isReadOnly || fs.fstatSync(descriptor).isDirectory())
    fail('EPERM', 'operation not permitted');
  const folder = process.env.TRUEWARD_DATA_DIR ?? '';
  if (fs.existsSync(join(folder, 'database', 'unflushable'))) fail('EIO', 'i/o error');
  fsyncSync(descriptor);
};
syncBuiltinESMExports();

/**
 * @param {string} code
 * @param {string} text
 */
function fail(code, text) {
  throw Object.assign(new Error(`${code}: ${text}, fsync`), { code });
}
