import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Global set-up: gives the embedded databases of a run a folder that is removed at its end. */
export default function setUp(): () => void {
  const folder = mkdtempSync(join(tmpdir(), 'trueward-run-'));
  process.env['TRUEWARD_TEST_FOLDER'] = folder;
  return () => rmSync(folder, { recursive: true, force: true });
}
