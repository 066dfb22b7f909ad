import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Vitest's global setup. Creates a folder for a test run's embedded databases, and removes it after the run. */
export default function setUp(): () => void {
  const folder = mkdtempSync(join(tmpdir(), 'trueward-run-'));
  process.env['TRUEWARD_TEST_FOLDER'] = folder;
  return () => rmSync(folder, { recursive: true, force: true });
}
