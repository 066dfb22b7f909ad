import { resolve } from 'node:path';
import { defaultRateLimits, type RateLimits } from './http/rate-limits.ts';

/** What the service is started with; everything comes from environment variables. */
export interface Config {
  /** Folder of the embedded database and of the master key. */
  dataDirectory: string;
  /** Connection string of a PostgreSQL server; absent: the embedded database. */
  databaseUrl?: string;
  host: string;
  /** 0: any free port. */
  port: number;
  /** The address that clients and receipts know the service by; absent: the one it listens on. */
  publicUrl?: string;
  /** Folder of the media under `/media/`. */
  mediaDirectory: string;
  /** Seeds a demo account, prints its keys, and lets sandbox webhooks go to this machine. */
  development: boolean;
  /** 32 bytes in base64 that encrypt secrets at rest; absent: a file in the data folder. */
  masterKey?: string;
  /** Absent: requests are not limited. */
  rateLimits?: RateLimits;
  /** What `/metrics` asks for; absent: it answers this machine only. */
  metricsToken?: string;
  logLevel: string;
}

/** The environment does not make a configuration; the message lists everything that is wrong. */
export class ConfigError extends Error {
  constructor(problems: string[]) {
    super(
      `The configuration is not valid:\n${problems.map((problem) => `  - ${problem}`).join('\n')}`,
    );
    this.name = 'ConfigError';
  }
}

const logLevels = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'];

/**
 * Reads the configuration.
 *
 * @throws ConfigError
 */
export function readConfig(env: Record<string, string | undefined>): Config {
  const problems: string[] = [];
  /** Hands back the variable, or undefined when it is unset, empty or refused. */
  const read = (name: string, valid: (text: string) => boolean, expected: string) => {
    const text = env[name];
    if (text === undefined || text === '') return undefined;
    if (valid(text)) return text;
    problems.push(
      `${name} is ${JSON.stringify(secretNames.has(name) ? '…' : text)}; expected ${expected}.`,
    );
    return undefined;
  };
  const anything = () => true;

  const databaseUrl = read(
    'DATABASE_URL',
    isUrlOf('postgres:', 'postgresql:'),
    'postgres://user:password@host/database',
  );
  const publicUrl = read('PUBLIC_URL', isUrlOf('http:', 'https:'), 'an http or https address');
  const masterKey = read('TRUEWARD_MASTER_KEY', isMasterKey, '32 bytes in base64');
  const port = read(
    'PORT',
    (text) => /^\d+$/.test(text) && Number(text) <= 65_535,
    'a port from 0 to 65535',
  );
  const development = read(
    'TRUEWARD_DEVELOPMENT',
    (text) => text === '0' || text === '1',
    '0 or 1',
  );
  const logLevel = read(
    'LOG_LEVEL',
    (text) => logLevels.includes(text),
    `one of ${logLevels.join(', ')}`,
  );
  const rateLimits = read('RATE_LIMITS', (text) => text === 'off' || text === 'on', 'on or off');
  const metricsToken = read('METRICS_TOKEN', (text) => text.length >= 16, '16 characters or more');
  const config: Config = {
    dataDirectory: resolve(read('TRUEWARD_DATA_DIR', anything, 'a folder') ?? '.trueward'),
    ...(databaseUrl === undefined ? {} : { databaseUrl }),
    host: read('HOST', anything, 'an address') ?? '127.0.0.1',
    port: Number(port ?? '8700'),
    ...(publicUrl === undefined ? {} : { publicUrl: publicUrl.replace(/\/+$/, '') }),
    mediaDirectory: resolve(
      read('TRUEWARD_MEDIA_DIR', anything, 'a folder') ?? 'demo/creatives/dist',
    ),
    development: development === '1',
    ...(masterKey === undefined ? {} : { masterKey }),
    ...(rateLimits === 'off' ? {} : { rateLimits: defaultRateLimits }),
    ...(metricsToken === undefined ? {} : { metricsToken }),
    logLevel: logLevel ?? 'info',
  };
  if (problems.length > 0) throw new ConfigError(problems);
  return config;
}

/** Their values stay out of messages. */
const secretNames = new Set(['DATABASE_URL', 'TRUEWARD_MASTER_KEY', 'METRICS_TOKEN']);

const isUrlOf =
  (...protocols: string[]) =>
  (text: string): boolean =>
    URL.canParse(text) && protocols.includes(new URL(text).protocol);

const isMasterKey = (text: string): boolean => Buffer.from(text, 'base64').length === 32;
