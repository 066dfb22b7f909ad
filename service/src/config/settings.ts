import { parseHeaders, samplerNames } from '../trace/trace-settings.ts';
import { limitSettings } from './limit-settings.ts';
import {
  anything,
  isNetwork,
  isPublicUrl,
  isUrlOf,
  oneOf,
  type Setting,
  wholeNumber,
} from './setting.ts';

/** Everything that can be configured, in the order in which help shows it. */
export const settings = {
  TRUEWARD_CONFIG: {
    about: 'a JSON file with these variables; what the environment has counts before it',
    expected: 'a file',
    valid: anything,
  },
  TRUEWARD_DATA_DIR: {
    about: 'folder of the embedded database and of master.key',
    expected: 'a folder',
    valid: anything,
    fallback: '.trueward',
  },
  DATABASE_URL: {
    about: 'a PostgreSQL server instead of the embedded database',
    expected: 'postgres://user:password@host/database',
    valid: isUrlOf('postgres:', 'postgresql:'),
    secret: true,
  },
  DATABASE_POOL_SIZE: {
    about: 'connections of this process to the server, at most',
    ...wholeNumber(2, 1_000),
    fallback: '8',
  },
  DATABASE_TIMEOUT_S: {
    about: 'seconds after which a statement, or the wait for a connection, has failed',
    ...wholeNumber(1, 600),
    fallback: '10',
  },
  DATABASE_LOCK_TIMEOUT_MS: {
    about: 'milliseconds after which a statement that waits for a locked row or table has failed',
    ...wholeNumber(100, 60_000),
    fallback: '2000',
  },
  DATABASE_POOLER: {
    about: 'transaction: a pooler is in between that hands out connections by transaction',
    ...oneOf('none', 'transaction'),
    fallback: 'none',
  },
  MIGRATION_WAIT_S: {
    about: 'seconds that the start waits for another session that blocks a change of tables',
    ...wholeNumber(1, 86_400),
    fallback: '60',
  },
  RETENTION_DAYS: {
    about:
      'days after which decisions and their events are dropped, by the week, and webhook events removed; reports keep their sums; unset: never',
    // Completions are taken for a week, and a dispute takes longer than that.
    ...wholeNumber(14, 3_650),
  },
  AUDIT_RETENTION_DAYS: {
    about: 'days after which entries of the audit trail are removed; unset: never',
    ...wholeNumber(30, 36_500),
  },
  ARCHIVE_DIR: {
    about:
      'folder that the command archive writes to; with it, only weeks that are archived are dropped',
    expected: 'a folder',
    valid: anything,
  },
  HOST: {
    about: 'where to listen',
    expected: 'an address',
    valid: anything,
    fallback: '127.0.0.1',
  },
  PORT: {
    about: 'where to listen; 0: any free port',
    ...wholeNumber(0, 65_535),
    expected: 'a port from 0 to 65535',
    fallback: '8700',
  },
  PUBLIC_URL: {
    about: 'the address by which clients know the service',
    expected: 'an http or https address without credentials',
    valid: isPublicUrl,
  },
  TRUSTED_PROXIES: {
    about:
      'load balancers whose X-Forwarded-For tells who the client is, by commas; uniquelocal: private networks',
    expected:
      'addresses, networks such as 10.0.0.0/8, loopback, linklocal or uniquelocal, by commas',
    valid: (text) => text.split(',').every((each) => isNetwork(each.trim())),
  },
  COUNTRY_HEADER: {
    about:
      'header in which TRUSTED_PROXIES write the country of the client, such as CF-IPCountry; policies by country need it',
    expected: 'the name of a header',
    valid: (text) => /^[\w-]+$/.test(text),
  },
  DRAIN_S: {
    about: 'seconds after SIGTERM in which /readyz says no and requests are still taken',
    ...wholeNumber(0, 300),
    fallback: '0',
  },
  TRUEWARD_MEDIA_DIR: {
    about: 'folder of the files under /media/',
    expected: 'a folder',
    valid: anything,
    fallback: 'demo/creatives/dist',
  },
  MEDIA_S3_URL: {
    about:
      'a bucket of S3, or of what speaks like it, for uploads; unset: media in the data folder',
    expected: 'an http or https address with the bucket in its path and no credentials',
    valid: isPublicUrl,
  },
  MEDIA_S3_REGION: {
    about: 'the region of the bucket',
    expected: 'a region',
    valid: anything,
    fallback: 'us-east-1',
  },
  MEDIA_S3_KEY_ID: {
    about: 'the access key of the bucket',
    expected: 'an access key',
    valid: anything,
  },
  MEDIA_S3_SECRET: {
    about: 'the secret of that key',
    expected: 'a secret',
    valid: anything,
    secret: true,
  },
  TRUEWARD_MASTER_KEY: {
    about: 'encrypts secrets at rest; unset: master.key in the data folder',
    expected: '32 bytes in base64',
    valid: (text) => Buffer.from(text, 'base64').length === 32,
    secret: true,
  },
  TRUEWARD_OTHER_MASTER_KEY: {
    about: 'a second master key that also decrypts, while master-key rotate replaces the first',
    expected: '32 bytes in base64',
    valid: (text) => Buffer.from(text, 'base64').length === 32,
    secret: true,
  },
  TRUEWARD_DEVELOPMENT: {
    about: '1: seed a demo account, print its keys, let sandbox webhooks go to this machine',
    ...oneOf('0', '1'),
    fallback: '0',
  },
  TRUEWARD_TEST_CLOCK: {
    about:
      '1: the parent process moves the clock of the service; for tests, with TRUEWARD_DEVELOPMENT=1',
    ...oneOf('0', '1'),
    fallback: '0',
  },
  ...limitSettings,
  METRICS_TOKEN: {
    about: 'what /metrics asks for as a bearer token; unset: only this machine may ask',
    expected: '16 characters or more',
    valid: (text) => text.length >= 16,
    secret: true,
  },
  OTEL_EXPORTER_OTLP_ENDPOINT: {
    about: 'an OpenTelemetry collector that takes OTLP over HTTP; unset: no traces',
    expected: 'an http or https address such as http://127.0.0.1:4318',
    valid: isUrlOf('http:', 'https:'),
    secret: true,
  },
  OTEL_EXPORTER_OTLP_HEADERS: {
    about: 'headers that the collector asks for: name=value, by commas, percent-encoded',
    expected: 'name=value, by commas',
    valid: (text) => parseHeaders(text) !== undefined,
    secret: true,
  },
  OTEL_SERVICE_NAME: {
    about: 'the name of the service in its traces',
    expected: 'a name',
    valid: anything,
    fallback: 'trueward',
  },
  OTEL_TRACES_SAMPLER: {
    about:
      'which traces are told of; those with parentbased ask the traceparent of the client first',
    ...oneOf(...samplerNames),
    fallback: 'parentbased_always_on',
  },
  OTEL_TRACES_SAMPLER_ARG: {
    about: 'the share of traces that a sampler with traceidratio takes',
    expected: 'a number from 0 to 1',
    valid: (text) => /^(0|1|[01]?\.\d+)$/.test(text) && Number(text) <= 1,
    fallback: '1',
  },
  LOG_LEVEL: {
    about: 'the least severe lines to log; debug has a line for each request',
    ...oneOf('fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'),
    fallback: 'info',
  },
} as const satisfies Record<string, Setting>;

export type SettingName = keyof typeof settings;

/** The settings as a list, each as what it may have. */
export const settingList = Object.entries(settings) as [SettingName, Setting][];
