import { setTimeout as sleep } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { type DestinationStream, type Logger, pino } from 'pino';
import { assemble, type Service } from '../assemble.ts';
import { type Config, readConfig } from '../config/config.ts';
import { findUnknownSettings } from '../config/read-settings.ts';
import { seedDevelopment } from '../development/seed.ts';
import { followParentClock } from '../development/test-clock.ts';
import { openDatabaseClock } from '../../store/database-clock.ts';
import { DatabaseUnreachableError, isDiskFull } from '../../store/database-errors.ts';
import { onStopRequest } from '../../platform/stop-requests.ts';
import { CommandError } from './command.ts';

/** Maximum time for a graceful shutdown. After that, the process exits even if a connection hangs. */
const stopTimeoutMs = 5_000;

/**
 * By default, V8 marks the whole heap each time the heap grows by 10%. Under load, this happened every 0.7 s and used
 * 5% of CPU time. With this setting, the heap can triple in size before it is marked again. It still stays small,
 * because long-lived objects take up only about 25 MB.
 */
const heapGrowthPercent = 200;

/** Runs the service until a signal stops it. Prints one line of JSON when the service is ready. */
export async function runService(): Promise<void> {
  const config = readConfig(process.env);
  setFlagsFromString(`--heap-growing-percent=${heapGrowthPercent}`);
  // Keeps the service running if the process that reads the log exits.
  process.stderr.on('error', () => undefined);
  const log = createLog(config.logLevel, process.stderr);
  for (const name of findUnknownSettings(process.env))
    log.warn({ name }, 'ignoring an unknown setting in the environment');
  const testClock = config.testClock ? followParentClock() : undefined;
  const embedded = config.databaseUrl === undefined;
  const service = await assemble(
    config,
    async (database) => testClock ?? openDatabaseClock({ database, embedded, log }),
    log,
  );

  let isStopping = false;
  const drainAndStop = async (): Promise<void> => {
    service.drain();
    if (config.drainMs > 0) await sleep(config.drainMs);
    setTimeout(() => process.exit(1), stopTimeoutMs).unref();
    await service.stop();
  };
  const stop = (signal: string): void => {
    if (isStopping) return;
    isStopping = true;
    log.info({ signal }, 'stopping');
    drainAndStop().then(
      () => process.exit(0),
      (error: unknown) => {
        log.error({ err: error }, 'the service did not stop cleanly');
        process.exit(1);
      },
    );
  };
  onStopRequest(stop);

  try {
    await announce(service, config, log);
  } catch (error) {
    // The service may already be listening. If it were not stopped, the process would keep running without ever
    // becoming ready.
    await service.stop();
    throw error;
  }
}

/** @throws CommandError when the service cannot listen. The message names the settings to change. */
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
async function announce(service: Service, config: Config, log: Logger): Promise<void> {
  const url = service.setListenUrl(await listen(service, config));
  const keys = config.development
    ? { keys: await seedDevelopment(service, service.clock, config.dataDirectory, url) }
    : {};
  const panelUrl = `${url}/panel/`;
  const linkToken = await service.users.links.makeForFirstOwner();
  const setup =
    linkToken === undefined ? {} : { setup_url: `${panelUrl}#/setup?token=${linkToken}` };
  log.info({ url }, 'ready');
  process.stdout.write(
    `${JSON.stringify({ ready: true, url, panel_url: panelUrl, ...setup, ...keys })}\n`,
  );
}

/** Maximum length of a string in a log entry. Strings from clients can be as long as a request body. */
const maxTextLength = 500;
const maxStackLength = 4_000;
/** Maximum JSON length of an array or object in a log entry. */
const maxJsonLength = 2_000;

/**
 * Creates the service's log, which writes JSON lines of bounded length. If the database is unavailable or its disk is
 * full, only the start and the end of the outage are logged. Requests that fail in between are not logged.
 */
export function createLog(level: string, destination: DestinationStream): Logger {
  return pino(
    {
      level,
      formatters: { log: truncateFields },
      serializers: { err: (error: Error) => truncateFields(pino.stdSerializers.err(error)) },
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

/** Truncates long fields in a log entry. Errors are left unchanged, because their serializer truncates them. */
const truncateFields = (fields: object): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(fields).map(([name, value]: [string, unknown]) => [
      name,
      value instanceof Error
        ? value
        : truncateValue(value, name === 'stack' ? maxStackLength : maxTextLength),
    ]),
  );

function truncateValue(value: unknown, maxLength: number): unknown {
  if (typeof value === 'string') return truncate(value, maxLength);
  if (typeof value !== 'object' || value === null) return value;
  const json = JSON.stringify(value) ?? '';
  return json.length <= maxJsonLength ? value : truncate(json, maxJsonLength);
}

const truncate = (text: string, maxLength: number): string =>
  text.length <= maxLength ? text : `${text.slice(0, maxLength)}… (${text.length} characters)`;
