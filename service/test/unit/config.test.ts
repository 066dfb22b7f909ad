import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { ConfigError, readSettings } from '../../src/program/config/read-settings.ts';
import { readConfig } from '../../src/program/config/config.ts';
import { settings } from '../../src/program/config/settings.ts';
import { childRetentionMs } from '../../src/store/account-retention.ts';

function writeConfigFile(content: string): string {
  const folder = mkdtempSync(join(tmpdir(), 'trueward-config-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  writeFileSync(join(folder, 'trueward.json'), content);
  return join(folder, 'trueward.json');
}

test('the error for an invalid configuration lists every problem without revealing secrets', () => {
  expect(readConfig({})).toMatchObject({ host: '127.0.0.1', port: 8_700, development: false });
  const invalidSettings = {
    PORT: '-1',
    DATABASE_URL: 'mysql://root:hunter2@db',
    TRUEWARD_DEVELOPMENT: 'yes',
  };
  expect(() => readConfig(invalidSettings)).toThrow(ConfigError);
  for (const name of Object.keys(invalidSettings))
    expect(() => readConfig(invalidSettings)).toThrow(name);
  expect(() => readConfig(invalidSettings)).not.toThrow(/hunter2/);
});

test('environment variables take precedence over the configuration file', () => {
  const file = writeConfigFile(JSON.stringify({ PORT: 9_000, HOST: '0.0.0.0', DRAIN_S: '5' }));
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

test('the standard OpenTelemetry variables configure tracing', () => {
  expect(readConfig({ OTEL_SERVICE_NAME: 'ads' }).traces).toBeUndefined();
  const env = {
    OTEL_EXPORTER_OTLP_ENDPOINT: 'https://collector.test/otlp/',
    OTEL_EXPORTER_OTLP_HEADERS: 'authorization=Basic%20YTpi, x-tenant = eu=1',
    OTEL_TRACES_SAMPLER: 'traceidratio',
    OTEL_TRACES_SAMPLER_ARG: '0.25',
  };
  expect(readConfig(env).traces).toEqual({
    endpoint: 'https://collector.test/otlp',
    headers: { authorization: 'Basic YTpi', 'x-tenant': 'eu=1' },
    serviceName: 'trueward',
    sampler: 'traceidratio',
    ratio: 0.25,
  });
});

test('the test clock is rejected outside development', () => {
  const env = { TRUEWARD_TEST_CLOCK: '1' };
  expect(() => readConfig(env)).toThrow(
    'TRUEWARD_TEST_CLOCK=1 requires TRUEWARD_DEVELOPMENT=1: the test clock must not be used in production',
  );
  expect(readConfig({ ...env, TRUEWARD_DEVELOPMENT: '1' }).testClock).toBe(true);
  expect(readConfig({ TRUEWARD_DEVELOPMENT: '1' }).testClock).toBe(false);
});

test('development mode is not offered to other machines by accident', () => {
  const read = (HOST: string, mode: string) => () =>
    readConfig({ HOST, TRUEWARD_DEVELOPMENT: mode }).development;
  for (const host of ['127.0.0.1', '127.0.1.1', '::1', 'localhost'])
    expect(read(host, '1')()).toBe(true);
  for (const host of [
    '0.0.0.0',
    '::',
    '192.168.0.1',
    'ads.example',
    '127.0.0.1.example',
    '2130706433',
  ]) {
    expect(read(host, '1')).toThrow('TRUEWARD_DEVELOPMENT=1 requires a HOST');
    expect(read(host, 'network')()).toBe(true);
    expect(read(host, '0')()).toBe(false);
  }
});

test('quotas name what they limit', () => {
  expect(readConfig({}).quotas).toEqual({});
  const env = { ACCOUNT_QUOTAS: 'policies=500, media_mb=0' };
  expect(readConfig(env).quotas).toEqual({ policies: 500, media_mb: 0 });
  for (const text of ['policy=1', 'policies=', 'policies=-1', 'policies=1.5', 'policies=1;users=2'])
    expect(() => readConfig({ ACCOUNT_QUOTAS: text })).toThrow('ACCOUNT_QUOTAS is');
});

test.each([
  ['OIDC_ISSUER', 'http://id.example', 'expected an https URL'],
  ['OIDC_ISSUER', 'https://user:s3cret@id.example', 'expected an https URL'],
  ['OIDC_ISSUER', 'https://login.microsoftonline.com/common/v2.0', 'id of your directory'],
  ['OIDC_ISSUER', 'https://login.microsoftonline.com/organizations', 'id of your directory'],
  ['OIDC_ISSUER', 'https://LOGIN.microsoftonline.com//Consumers/v2.0', 'id of your directory'],
  ['OIDC_ISSUER', 'https://login.microsoftonline.com/%63ommon/v2.0', 'id of your directory'],
  ['OIDC_ISSUER', 'https://login.microsoftonline.com', 'id of your directory'],
  ['OIDC_ISSUER', 'https://id.example', 'OIDC_CLIENT_ID is missing'],
  [
    'OIDC_ISSUER',
    'https://login.microsoftonline.com/72f988bf-86f1-41af-91ab-2d7cd011db47/v2.0',
    'OIDC_CLIENT_ID is missing',
  ],
  [
    'OIDC_ISSUER',
    'https://login.microsoftonline.com/studio.onmicrosoft.com/v2.0',
    'OIDC_CLIENT_ID is missing',
  ],
  ['OIDC_CLIENT_SECRET', 'secret', 'OIDC_ISSUER is missing'],
  ['OIDC_EMAIL', 'none', 'expected verified or any'],
  ['OTEL_EXPORTER_OTLP_ENDPOINT', 'collector:4317', 'OTEL_EXPORTER_OTLP_ENDPOINT is "…"; expected'],
  ['OTEL_EXPORTER_OTLP_HEADERS', 'Bearer secret', 'OTEL_EXPORTER_OTLP_HEADERS is "…"; expected'],
  ['OTEL_EXPORTER_OTLP_HEADERS', 'a=%zz', 'OTEL_EXPORTER_OTLP_HEADERS is "…"; expected'],
  ['OTEL_TRACES_SAMPLER', 'jaeger_remote', 'expected always_on'],
  ['OTEL_TRACES_SAMPLER_ARG', '1.5', 'expected a number from 0 to 1'],
])('%s=%s is rejected', (name, value, message) => {
  expect(() => readConfig({ [name]: value })).toThrow(message);
});

test.each(['MEDIA_S3_URL', 'PUBLIC_URL'])(
  'the error for %s with credentials does not reveal them',
  (name) => {
    const value = 'https://user:s3cret@s3.example/bucket';
    const read = () => readConfig({ [name]: value });
    expect(read).toThrow(`${name} is "https://…@s3.example/bucket"; expected`);
  },
);

test.each([
  ['{"PROT": 9000}', 'sets PROT, which is not a known setting'],
  ['{"PORT": true}', 'must set PORT to a string or a number'],
  ['[]', 'must contain a JSON object'],
  ['{', 'cannot be read'],
  ['{"DATABASE_POOL_SIZE": 1}', 'DATABASE_POOL_SIZE is "1"; expected a whole number from 2'],
])('a configuration file with %s is rejected', (content, message) => {
  expect(() => readConfig({ TRUEWARD_CONFIG: writeConfigFile(content) })).toThrow(message);
});

test('the setting for retention says how long child-directed data is kept', () => {
  expect(settings.RETENTION_DAYS.description).toContain(
    `child-directed data is deleted after ${childRetentionMs / 86_400_000} days`,
  );
});
