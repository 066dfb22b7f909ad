import { randomBytes } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** The key that encrypts secrets at rest: from the configuration, or a file of the data folder made once. */
export function readMasterKey(config: { masterKey?: string; dataDirectory: string }): Buffer {
  if (config.masterKey !== undefined) return Buffer.from(config.masterKey, 'base64');
  const file = join(config.dataDirectory, 'master.key');
  mkdirSync(config.dataDirectory, { recursive: true });
  try {
    writeFileSync(file, randomBytes(32).toString('base64'), {
      flag: 'wx',
      mode: 0o600,
      flush: true,
    });
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error;
  }
  const key = Buffer.from(readFileSync(file, 'utf8').trim(), 'base64');
  if (key.length !== 32) {
    throw new Error(
      `${file} holds ${key.length} bytes; expected the 32 bytes in base64 that it was made with.`,
    );
  }
  return key;
}
