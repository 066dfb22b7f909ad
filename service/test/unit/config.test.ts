import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { readSettings } from '../../src/config/read-settings.ts';
import { readConfig } from '../../src/config.ts';

function configFile(content: string): string {
  const folder = mkdtempSync(join(tmpdir(), 'trueward-config-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  writeFileSync(join(folder, 'trueward.json'), content);
  return join(folder, 'trueward.json');
}

test('a file configures what the environment does not, and each value tells where it is from', () => {
  const file = configFile(JSON.stringify({ PORT: 9_000, HOST: '0.0.0.0', DRAIN_S: '5' }));
  const env = { TRUEWARD_CONFIG: file, HOST: '::1', METRICS_TOKEN: '' };
  expect(readConfig(env)).toMatchObject({ port: 9_000, host: '::1', drainMs: 5_000 });
  const origins = Object.fromEntries(readSettings(env).map(({ name, origin }) => [name, origin]));
  expect(origins).toMatchObject({
    PORT: 'file',
    HOST: 'environment',
    LOG_LEVEL: 'default',
    METRICS_TOKEN: 'unset',
  });
});

test.each([
  ['{"PROT": 9000}', 'sets PROT, which is no setting'],
  ['{"PORT": true}', 'sets PORT to no text and no number'],
  ['[]', 'has to hold an object'],
  ['{', 'cannot be read'],
  ['{"DATABASE_POOL_SIZE": 1}', 'DATABASE_POOL_SIZE is "1"; expected a whole number from 2'],
])('a file with %s is refused', (content, message) => {
  expect(() => readConfig({ TRUEWARD_CONFIG: configFile(content) })).toThrow(message);
});
