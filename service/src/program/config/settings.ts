import { listHostUrls } from '../../platform/list-host-urls.ts';
import { quotaSetting } from '../../platform/quota-limits.ts';
import { parseHeaders, samplerNames } from '../../trace/tracing.ts';
import { limitSettings } from './limit-settings.ts';
import {
  acceptAny,
  daysOrForever,
  hasProtocol,
  isNetwork,
  isProvider,
  isPublicUrl,
  oneOf,
  wholeNumber,
  type Setting,
} from './setting-formats.ts';

export type { Setting };

/** All settings, in the order in which the help lists them. */
export const settings = {
  TRUEWARD_CONFIG: {
    description: 'a JSON file with these variables; the environment takes precedence',
    expected: 'a file',
    isValid: acceptAny,
  },
  TRUEWARD_DATA_DIR: {
    description: 'folder for the embedded database and master.key',
    expected: 'a folder path',
    isValid: acceptAny,
    fallback: '.trueward',
  },
  DATABASE_URL: {
    description: 'a PostgreSQL server instead of the embedded database',
    expected:
      'postgres://user:password@host/database, optionally with several comma-separated hosts',
    isValid: (text) => listHostUrls(text).length > 0,
    secret: true,
  },
  DATABASE_ADMIN_URL: {
    description:
      'server for schema changes, if different from DATABASE_URL, such as a Citus coordinator',
    expected: 'postgres://user:password@host/database',
    isValid: hasProtocol('postgres:', 'postgresql:'),
    secret: true,
  },
  DATABASE_POOL_SIZE: {
    description:
      'maximum number of connections from this process for ads and deliveries; up to 7 more are for operators and maintenance',
    ...wholeNumber(2, 1_000),
    fallback: '8',
  },
  DATABASE_TIMEOUT_S: {
    description: 'timeout for running a statement and for acquiring a connection, in seconds',
    ...wholeNumber(1, 600),
    fallback: '10',
  },
  DATABASE_LOCK_TIMEOUT_MS: {
    description: 'how long a statement waits for a locked row or table, in milliseconds',
    ...wholeNumber(100, 60_000),
    fallback: '2000',
  },
  DATABASE_POOLER: {
    description: 'transaction if a pooler in transaction mode is in front of the server',
    ...oneOf('none', 'transaction'),
    fallback: 'none',
  },
  MIGRATION_WAIT_S: {
    description: 'seconds that startup waits for sessions that block a migration',
    ...wholeNumber(1, 86_400),
    fallback: '60',
  },
  RETENTION_DAYS: {
    description:
      'days after which decisions, their events and webhook events are deleted, whole weeks at a time, or forever; reports keep their totals; child-directed data is deleted after 30 days',
    // Completions are accepted for one week, and disputes may arise after that.
    ...daysOrForever(14, 3_650),
    fallback: '395',
  },
  AUDIT_RETENTION_DAYS: {
    description: 'days after which audit records are deleted, or forever',
    ...daysOrForever(30, 36_500),
    fallback: '730',
  },
  UNOFFERED_CREATIVE_DAYS: {
    description:
      'an external source’s creative is archived this many days after the source last offered it; 0: never',
    ...wholeNumber(0, 3_650),
    fallback: '30',
  },
  ARCHIVE_DIR: {
    description: 'target folder for the archive command; if set, only archived weeks are dropped',
    expected: 'a folder',
    isValid: acceptAny,
  },
  HOST: {
    description: 'host name or IP to listen on',
    expected: 'a host name or IP',
    isValid: acceptAny,
    fallback: '127.0.0.1',
  },
  PORT: {
    description: 'port to listen on; 0: any free port',
    ...wholeNumber(0, 65_535),
    fallback: '8700',
  },
  PUBLIC_URL: {
    description: 'the URL at which clients reach the service',
    expected: 'an http or https URL without credentials',
    isValid: isPublicUrl,
  },
  TRUSTED_PROXIES: {
    description:
      'comma-separated proxies whose X-Forwarded-For is trusted; uniquelocal: private networks',
    expected:
      'comma-separated IPs, networks such as 10.0.0.0/8, loopback, linklocal or uniquelocal',
    isValid: (text) => text.split(',').every((proxy) => isNetwork(proxy.trim())),
  },
  COUNTRY_HEADER: {
    description:
      'header in which TRUSTED_PROXIES send the client’s country, such as CF-IPCountry; required for country-based policies',
    expected: 'a header name',
    isValid: (text) => /^[\w-]+$/.test(text),
  },
  DRAIN_S: {
    description: 'seconds after SIGTERM during which /readyz fails but requests are still accepted',
    ...wholeNumber(0, 300),
    fallback: '0',
  },
  DEMAND_BUDGET_MS: {
    description: 'how long a decision’s external sources may take in total, in milliseconds',
    ...wholeNumber(100, 10_000),
    fallback: '1000',
  },
  TRUEWARD_MEDIA_DIR: {
    description: 'folder with the files served under /media/',
    expected: 'a folder',
    isValid: acceptAny,
    fallback: 'demo/creatives/dist',
  },
  MEDIA_S3_URL: {
    description:
      'an S3-compatible bucket for uploads; unset: uploads are stored in the data folder',
    expected: 'an http or https URL with the bucket in its path and no credentials',
    isValid: isPublicUrl,
  },
  MEDIA_S3_REGION: {
    description: 'the bucket’s region',
    expected: 'a region',
    isValid: acceptAny,
    fallback: 'us-east-1',
  },
  MEDIA_S3_KEY_ID: {
    description: 'the access key id for the bucket',
    expected: 'an access key',
    isValid: acceptAny,
  },
  MEDIA_S3_SECRET: {
    description: 'the secret access key for the bucket',
    expected: 'a secret',
    isValid: acceptAny,
    secret: true,
  },
  TRUEWARD_MASTER_KEY: {
    description: 'the key that encrypts secrets at rest; unset: master.key in the data folder',
    expected: '32 bytes in base64',
    isValid: (text) => Buffer.from(text, 'base64').length === 32,
    secret: true,
  },
  TRUEWARD_OTHER_MASTER_KEY: {
    description: 'a second master key that can decrypt secrets during a rotation',
    expected: '32 bytes in base64',
    isValid: (text) => Buffer.from(text, 'base64').length === 32,
    secret: true,
  },
  TRUEWARD_DEVELOPMENT: {
    description:
      '1: seed a demo account, print its keys, and allow sandbox webhooks to this machine; network: the same for a HOST that other machines can reach',
    ...oneOf('0', '1', 'network'),
    fallback: '0',
  },
  TRUEWARD_TEST_CLOCK: {
    description:
      '1: the parent process controls the service’s clock; for tests, with TRUEWARD_DEVELOPMENT=1',
    ...oneOf('0', '1'),
    fallback: '0',
  },
  OIDC_ISSUER: {
    description: 'an OpenID provider at which panel users can sign in; unset: passwords only',
    expected:
      'an https URL, or an http URL of this machine; of Microsoft Entra ID, with the id of your directory',
    isValid: isProvider,
  },
  OIDC_CLIENT_ID: {
    description: 'the service’s client id at that provider',
    expected: 'a client id',
    isValid: acceptAny,
  },
  OIDC_CLIENT_SECRET: {
    description: 'the service’s client secret at that provider; unset: it is a public client',
    expected: 'a secret',
    isValid: acceptAny,
    secret: true,
  },
  OIDC_NAME: {
    description: 'the provider’s name on the sign-in page',
    expected: 'a name',
    isValid: acceptAny,
    fallback: 'single sign-on',
  },
  OIDC_EMAIL: {
    description:
      'verified requires the claim email_verified; any trusts every e-mail address that the provider sends',
    ...oneOf('verified', 'any'),
    fallback: 'verified',
  },
  ...limitSettings,
  ACCOUNT_QUOTAS: quotaSetting,
  METRICS_TOKEN: {
    description: 'bearer token for /metrics; unset: only this machine may read it',
    expected: '16 characters or more',
    isValid: (text) => text.length >= 16,
    secret: true,
  },
  OTEL_EXPORTER_OTLP_ENDPOINT: {
    description: 'an OpenTelemetry collector that accepts OTLP over HTTP; unset: tracing is off',
    expected: 'an http or https URL such as http://127.0.0.1:4318',
    isValid: hasProtocol('http:', 'https:'),
    secret: true,
  },
  OTEL_EXPORTER_OTLP_HEADERS: {
    description: 'headers for the collector: comma-separated name=value pairs, percent-encoded',
    expected: 'comma-separated name=value pairs',
    isValid: (text) => parseHeaders(text) !== undefined,
    secret: true,
  },
  OTEL_SERVICE_NAME: {
    description: 'the service name in traces',
    expected: 'a name',
    isValid: acceptAny,
    fallback: 'trueward',
  },
  OTEL_TRACES_SAMPLER: {
    description:
      'which traces are sampled; the parentbased samplers honor the client’s traceparent',
    ...oneOf(...samplerNames),
    fallback: 'parentbased_always_on',
  },
  OTEL_TRACES_SAMPLER_ARG: {
    description: 'the fraction of traces that a traceidratio sampler keeps',
    expected: 'a number from 0 to 1',
    isValid: (text) => /^(0|1|[01]?\.\d+)$/.test(text) && Number(text) <= 1,
    fallback: '1',
  },
  LOG_LEVEL: {
    description: 'minimum severity to log; debug logs every request',
    ...oneOf('fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'),
    fallback: 'info',
  },
} as const satisfies Record<string, Setting>;

export type SettingName = keyof typeof settings;

/** The settings as a list. */
export const settingList = Object.entries(settings) as [SettingName, Setting][];
