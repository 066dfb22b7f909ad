import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { SendsReport } from './sends.ts';

const script = fileURLToPath(new URL('sends.ts', import.meta.url));

/** Sends this many webhooks in a separate process and returns its memory report. */
export async function countSends(sends: number): Promise<SendsReport> {
  const { stdout } = await promisify(execFile)(process.execPath, [
    '--expose-gc',
    '--import',
    'tsx',
    script,
    String(sends),
  ]);
  return JSON.parse(stdout) as SendsReport;
}
