import { resolve } from 'node:path';
import { ConfigError, readSettings } from './read-settings.ts';
import type { SettingName } from './settings.ts';
import type { RateLimits } from '../../http/limits/rate-limits.ts';
import type { Rate } from '../../http/limits/token-buckets.ts';
import type { S3Bucket } from '../../media/media-store.ts';
import type { DatabaseConfig } from '../../store/open-database.ts';
import type { SingleSignOnSettings } from '../../access/single-sign-on.ts';
import { parseQuotaLimits, type QuotaLimits } from '../../platform/quota-limits.ts';
import { parseHeaders, type SamplerName, type TraceSettings } from '../../trace/tracing.ts';
import type { Retention } from '../../history/delete-old-rows.ts';

/** The service's configuration. */
export interface Config extends DatabaseConfig {
  /** The folder that contains the embedded database and the master key. */
  dataDirectory: string;
  /** How long startup waits for sessions that block a migration. */
  migrationWaitMs: number;
  retention: Retention;
  host: string;
  /** 0 means any free port. */
  port: number;
  /** The service's public URL, which is included in receipts; if absent, the URL that the service listens on. */
  publicUrl?: string;
  /** Proxies whose `X-Forwarded-For` is trusted; if absent, the connection's peer is treated as the client. */
  trustedProxies?: string[];
  /** The header in which trusted proxies send the client's country; if absent, countries are unknown. */
  countryHeader?: string;
  /** How long the service keeps accepting requests after SIGTERM, while `/readyz` fails. */
  drainMs: number;
  /** Total time budget for a decision's external sources. */
  demandBudgetMs: number;
  /**
   * How long to keep a creative that its external source no longer offers. After that, the creative is archived. If
   * undefined, such creatives are never archived.
   */
  unofferedRetentionMs: number | undefined;
  /** The folder with the files that are served under `/media/`. */
  mediaDirectory: string;
  /** The bucket for uploaded media; if absent, uploads are stored in a folder next to the database. */
  mediaBucket?: S3Bucket;
  /** Whether to seed a demo account, print its keys, and allow sandbox webhooks to this machine. */
  development: boolean;
  /** Whether the parent process controls the clock, so that tests don't have to wait. */
  testClock: boolean;
  /**
   * The key that encrypts secrets at rest: 32 bytes in base64; if absent, it is read from a file in the data folder.
   */
  masterKey?: string;
  /** A second key that can decrypt secrets during master key rotation. */
  otherMasterKey?: string;
  /** Limits on what an account stores that replace the defaults. */
  quotas: QuotaLimits;
  /** If absent, requests are not rate-limited. */
  rateLimits?: RateLimits;
  /** The bearer token for `/metrics`; if absent, only this machine may read the metrics. */
  metricsToken?: string;
  /** If absent, panel users sign in with passwords only. */
  singleSignOn?: SingleSignOnSettings;
  /** If absent, tracing is off. */
  traces?: TraceSettings;
  logLevel: string;
}

/**
 * Reads the configuration from environment variables and from the file in `TRUEWARD_CONFIG`.
 *
 * @throws ConfigError
 */
export function readConfig(env: Record<string, string | undefined>): Config {
  const values = new Map(readSettings(env).map(({ name, value }) => [name, value]));
  const getOptional = (name: SettingName) => values.get(name);
  // `getText` and `getNumber` are only for settings that have a default.
  const getText = (name: SettingName) => getOptional(name) ?? '';
  const getNumber = (name: SettingName) => Number(getText(name));
  const trustedProxies = getOptional('TRUSTED_PROXIES')
    ?.split(',')
    .map((proxy) => proxy.trim());
  const [databaseUrl, databaseAdminUrl, publicUrl, masterKey, otherMasterKey, metricsToken] = (
    [
      'DATABASE_URL',
      'DATABASE_ADMIN_URL',
      'PUBLIC_URL',
      'TRUEWARD_MASTER_KEY',
      'TRUEWARD_OTHER_MASTER_KEY',
      'METRICS_TOKEN',
    ] as const
  ).map(getOptional);
  return {
    dataDirectory: resolve(getText('TRUEWARD_DATA_DIR')),
    ...(databaseUrl === undefined ? {} : { databaseUrl }),
    ...(databaseAdminUrl === undefined ? {} : { databaseAdminUrl }),
    databaseLimits: {
      poolSize: getNumber('DATABASE_POOL_SIZE'),
      timeoutMs: getNumber('DATABASE_TIMEOUT_S') * 1_000,
      lockTimeoutMs: getNumber('DATABASE_LOCK_TIMEOUT_MS'),
      pooler: getText('DATABASE_POOLER') === 'transaction',
    },
    migrationWaitMs: getNumber('MIGRATION_WAIT_S') * 1_000,
    retention: readRetention(values),
    host: getText('HOST'),
    port: getNumber('PORT'),
    ...(publicUrl === undefined ? {} : { publicUrl: publicUrl.replace(/\/+$/, '') }),
    ...(trustedProxies === undefined ? {} : { trustedProxies }),
    ...readCountryHeader(values),
    drainMs: getNumber('DRAIN_S') * 1_000,
    demandBudgetMs: getNumber('DEMAND_BUDGET_MS'),
    unofferedRetentionMs: getNumber('UNOFFERED_CREATIVE_DAYS') * 86_400_000 || undefined,
    mediaDirectory: resolve(getText('TRUEWARD_MEDIA_DIR')),
    ...readBucket(values),
    development: readDevelopment(getText('TRUEWARD_DEVELOPMENT'), getText('HOST')),
    testClock: readTestClock(values),
    ...(masterKey === undefined ? {} : { masterKey }),
    ...(otherMasterKey === undefined ? {} : { otherMasterKey }),
    ...(getText('RATE_LIMITS') === 'off' ? {} : { rateLimits: readRateLimits(getText) }),
    quotas: parseQuotaLimits(getText('ACCOUNT_QUOTAS')) ?? {},
    ...(metricsToken === undefined ? {} : { metricsToken }),
    ...readSingleSignOn(values),
    ...readTraces(values),
    logLevel: getText('LOG_LEVEL'),
  };
}

function readRateLimits(getText: (name: SettingName) => string): RateLimits {
  const readRate = (name: SettingName): Rate => {
    const [perS = 0, burst = 0] = getText(name).split('/').map(Number);
    return { perS, burst };
  };
  return {
    key: { live: readRate('RATE_LIMIT_KEY_LIVE'), sandbox: readRate('RATE_LIMIT_KEY_SANDBOX') },
    keyCeiling: readRate('RATE_LIMIT_KEY_CEILING'),
    address: readRate('RATE_LIMIT_ADDRESS'),
    user: { live: readRate('RATE_LIMIT_USER_LIVE'), sandbox: readRate('RATE_LIMIT_USER_SANDBOX') },
    guests: {
      perS: Number(getText('RATE_LIMIT_GUESTS')) / 3_600,
      burst: Number(getText('RATE_LIMIT_GUESTS')),
    },
    waits: {
      key: Number(getText('WAITS_PER_KEY')),
      address: Number(getText('WAITS_PER_ADDRESS')),
    },
  };
}

function readRetention(values: ReadonlyMap<SettingName, string | undefined>): Retention {
  const readDaysAsMs = (name: SettingName): number | undefined => {
    const text = values.get(name);
    return text === undefined || text === 'forever' ? undefined : Number(text) * 86_400_000;
  };
  const directory = values.get('ARCHIVE_DIR');
  return {
    decisionsMs: readDaysAsMs('RETENTION_DAYS'),
    auditMs: readDaysAsMs('AUDIT_RETENTION_DAYS'),
    archiveDirectory: directory === undefined ? undefined : resolve(directory),
  };
}

/** @throws ConfigError when only a part of the required settings is set. */
function readSingleSignOn(values: ReadonlyMap<SettingName, string | undefined>): {
  singleSignOn?: SingleSignOnSettings;
} {
  const issuer = values.get('OIDC_ISSUER');
  const clientId = values.get('OIDC_CLIENT_ID');
  const clientSecret = values.get('OIDC_CLIENT_SECRET');
  if (issuer === undefined && clientId === undefined && clientSecret === undefined) return {};
  if (issuer === undefined || clientId === undefined)
    throw new ConfigError([
      `Single sign-on requires OIDC_ISSUER and OIDC_CLIENT_ID; ${issuer === undefined ? 'OIDC_ISSUER' : 'OIDC_CLIENT_ID'} is missing. Set both, or neither and no OIDC_CLIENT_SECRET.`,
    ]);
  return {
    singleSignOn: {
      issuer,
      clientId,
      clientSecret,
      name: values.get('OIDC_NAME') ?? '',
      assumesVerifiedEmail: values.get('OIDC_EMAIL') === 'any',
    },
  };
}

function readTraces(values: ReadonlyMap<SettingName, string | undefined>): {
  traces?: TraceSettings;
} {
  const endpoint = values.get('OTEL_EXPORTER_OTLP_ENDPOINT')?.replace(/\/+$/, '');
  if (endpoint === undefined) return {};
  return {
    traces: {
      endpoint,
      headers: parseHeaders(values.get('OTEL_EXPORTER_OTLP_HEADERS') ?? '') ?? {},
      serviceName: values.get('OTEL_SERVICE_NAME') ?? '',
      sampler: values.get('OTEL_TRACES_SAMPLER') as SamplerName,
      ratio: Number(values.get('OTEL_TRACES_SAMPLER_ARG')),
    },
  };
}

/**
 * @throws ConfigError in development mode with a host that other machines can reach, unless that is explicit: the keys
 * of the demo account are printed, and sandbox webhooks may reach this machine's own services.
 */
function readDevelopment(mode: string, host: string): boolean {
  const isLocal = /^(?:localhost|127(?:\.\d{1,3}){3}|::1)$/.test(host);
  if (mode === '1' && !isLocal) {
    throw new ConfigError([
      `TRUEWARD_DEVELOPMENT=1 requires a HOST that only this machine can reach; received ${host}. ` +
        'Set HOST to 127.0.0.1, or TRUEWARD_DEVELOPMENT to network if everybody in the network may have the demo account.',
    ]);
  }
  return mode !== '0';
}

/**
 * @throws ConfigError outside development mode, because whoever controls the clock can earn rewards without watching
 * ads.
 */
function readTestClock(values: ReadonlyMap<SettingName, string | undefined>): boolean {
  if (values.get('TRUEWARD_TEST_CLOCK') !== '1') return false;
  if (values.get('TRUEWARD_DEVELOPMENT') !== '0') return true;
  throw new ConfigError([
    'TRUEWARD_TEST_CLOCK=1 requires TRUEWARD_DEVELOPMENT=1: the test clock must not be used in production.',
  ]);
}

/** @throws ConfigError if `TRUSTED_PROXIES` is not set, because any client could then send the header. */
function readCountryHeader(values: ReadonlyMap<SettingName, string | undefined>): {
  countryHeader?: string;
} {
  const countryHeader = values.get('COUNTRY_HEADER')?.toLowerCase();
  if (countryHeader === undefined) return {};
  if (values.get('TRUSTED_PROXIES') === undefined) {
    throw new ConfigError([
      'COUNTRY_HEADER requires TRUSTED_PROXIES: set it to the load balancer that sends the header.',
    ]);
  }
  return { countryHeader };
}

/** @throws ConfigError when only some of the required settings are set. */
function readBucket(values: ReadonlyMap<SettingName, string | undefined>): {
  mediaBucket?: S3Bucket;
} {
  const url = values.get('MEDIA_S3_URL')?.replace(/\/+$/, '');
  const keyId = values.get('MEDIA_S3_KEY_ID');
  const secret = values.get('MEDIA_S3_SECRET');
  if (url === undefined && keyId === undefined && secret === undefined) return {};
  if (url === undefined || keyId === undefined || secret === undefined) {
    throw new ConfigError([
      'MEDIA_S3_URL, MEDIA_S3_KEY_ID and MEDIA_S3_SECRET must be set together: set all or none.',
    ]);
  }
  return { mediaBucket: { url, region: values.get('MEDIA_S3_REGION') ?? '', keyId, secret } };
}
