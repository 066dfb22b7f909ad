import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Vitest's global setup. It creates a folder for the embedded databases of a run, and removes it at the end. */
export default function setUp(): () => void {
  const folder = mkdtempSync(join(tmpdir(), 'trueward-run-'));
  process.env['TRUEWARD_TEST_FOLDER'] = folder;
  return () => rmSync(folder, { recursive: true, force: true });
}
