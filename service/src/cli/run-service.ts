import { setTimeout as sleep } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { type DestinationStream, type Logger, pino } from 'pino';
import { assemble, type Service } from '../assemble.ts';
import { type Config, readConfig } from '../config/config.ts';
import { unknownSettings } from '../config/read-settings.ts';
import { seedDevelopment } from '../development/seed.ts';
import { followParentClock } from '../development/test-clock.ts';
import { type Clock, systemClock } from '../platform/clock.ts';
import { DatabaseUnreachableError, isDiskFull } from '../store/database-errors.ts';
import { CommandError } from './command.ts';

/** The process exits after this time at the latest, so that a hanging connection can't keep it alive. */
const stopTimeoutMs = 5_000;

/**
 * Long-lived objects take about 25 MB. By default, V8 marks the whole heap each time the heap grows by a tenth: every
 * 0.7 s under load, which takes 5% of the CPU time. This setting lets the heap triple first.
 */
const heapGrowthPercent = 200;

/** Runs the service until a signal stops it; prints one line of JSON when it is ready. */
export async function runService(): Promise<void> {
  const config = readConfig(process.env);
  setFlagsFromString(`--heap-growing-percent=${heapGrowthPercent}`);
  // Keep running if the process that reads the log exits.
  process.stderr.on('error', () => undefined);
  const log = createLog(config.logLevel, process.stderr);
  for (const name of unknownSettings(process.env))
    log.warn({ name }, 'ignoring an unknown setting in the environment');
  const clock = config.testClock ? followParentClock() : systemClock;
  const service = await assemble(config, clock, log);

  let stopping = false;
  const drainAndStop = async (): Promise<void> => {
    service.drain();
    if (config.drainMs > 0) await sleep(config.drainMs);
    setTimeout(() => process.exit(1), stopTimeoutMs).unref();
    await service.stop();
  };
  const stop = (signal: NodeJS.Signals): void => {
    if (stopping) return;
    stopping = true;
    log.info({ signal }, 'stopping');
    drainAndStop().then(
      () => process.exit(0),
      (error: unknown) => {
        log.error({ err: error }, 'the service did not stop cleanly');
        process.exit(1);
      },
    );
  };
  process.on('SIGTERM', stop);
  process.on('SIGINT', stop);

  try {
    await announce(service, config, clock, log);
  } catch (error) {
    // The service is already listening, so the process would otherwise keep running without becoming ready.
    await service.stop();
    throw error;
  }
}

/** @throws CommandError that names the settings when it cannot listen on the host and port. */
async function listen(service: Service, { host, port }: Config): Promise<string> {
  try {
    return await service.app.listen({ host, port });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    const remedy = code === undefined ? undefined : listenRemedies[code];
    if (remedy === undefined) throw error;
    throw new CommandError(`Cannot listen on HOST=${host} PORT=${port}: ${remedy} (${code}).`);
  }
}

const listenRemedies: Record<string, string> = {
  EADDRINUSE: 'another process is using the port; stop it or set another PORT',
  EACCES: 'this user may not use the port; set a PORT above 1023',
  EADDRNOTAVAIL: 'this machine does not have that IP; set another HOST',
  ENOTFOUND: 'the host name does not resolve; set another HOST',
};

/** Starts listening and prints the ready line. */
async function announce(
  service: Service,
  config: Config,
  clock: Clock,
  log: Logger,
): Promise<void> {
  const url = service.setListenUrl(await listen(service, config));
  const keys = config.development
    ? { keys: await seedDevelopment(service, clock, config.dataDirectory, url) }
    : {};
  const panelUrl = `${url}/panel/`;
  const linkToken = await service.users.links.makeFirst();
  const setup =
    linkToken === undefined ? {} : { setup_url: `${panelUrl}#/setup?token=${linkToken}` };
  log.info({ url }, 'ready');
  process.stdout.write(
    `${JSON.stringify({ ready: true, url, panel_url: panelUrl, ...setup, ...keys })}\n`,
  );
}

/** Maximum length of a string in a log line; a string from a client can be as long as a request body. */
const maxTextLength = 500;
const maxStackLength = 4_000;
/** Maximum length of an array or object in a log line, as JSON. */
const maxJsonLength = 2_000;

/**
 * Creates the service's log: JSON lines of bounded length. When the database is unavailable or its disk is full, only
 * the start and the end of the outage are logged, not every request that fails in between.
 */
export function createLog(level: string, destination: DestinationStream): Logger {
  return pino(
    {
      level,
      formatters: { log: boundMembers },
      serializers: { err: (error: Error) => boundMembers(pino.stdSerializers.err(error)) },
      hooks: {
        logMethod(args, method) {
          const [first]: unknown[] = args;
          const { err } = (typeof first === 'object' && first ? first : {}) as { err?: unknown };
          if (!(err instanceof DatabaseUnreachableError) && !isDiskFull(err))
            method.apply(this, args);
        },
      },
    },
    destination,
  );
}

/** Leaves errors unchanged, because their serializer bounds them. */
const boundMembers = (members: object): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(members).map(([name, value]: [string, unknown]) => [
      name,
      value instanceof Error
        ? value
        : boundValue(value, name === 'stack' ? maxStackLength : maxTextLength),
    ]),
  );

function boundValue(value: unknown, maxLength: number): unknown {
  if (typeof value === 'string') return truncate(value, maxLength);
  if (typeof value !== 'object' || value === null) return value;
  const json = JSON.stringify(value) ?? '';
  return json.length <= maxJsonLength ? value : truncate(json, maxJsonLength);
}

const truncate = (text: string, maxLength: number): string =>
  text.length <= maxLength ? text : `${text.slice(0, maxLength)}… (${text.length} characters)`;
