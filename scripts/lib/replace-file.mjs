import { renameSync, writeFileSync } from 'node:fs';

/** What Windows reports while somebody else, such as a virus scanner, has a file open that would be replaced. */
const busyCodes = ['EPERM', 'EACCES', 'EBUSY'];

/**
 * Writes a file that only its owner can read. Nobody sees it partly written. On Windows, waits up to two seconds for
 * others that have it open.
 *
 * @param {string} file
 * @param {string} text
 */
export function replaceFile(file, text) {
  const draft = `${file}.new`;
  writeFileSync(draft, text, { mode: 0o600 });
  for (let waitedMs = 0, waitMs = 10; ; waitedMs += waitMs, waitMs *= 2) {
    try {
      return renameSync(draft, file);
    } catch (error) {
      const code = error instanceof Error && 'code' in error ? String(error.code) : '';
      const isBusy = process.platform === 'win32' && busyCodes.includes(code);
      if (!isBusy || waitedMs >= 2_000) throw error;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, waitMs);
    }
  }
}
