import { setTimeout as sleep } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import type { Logger } from 'pino';
import { assemble, type Service } from '../assemble.ts';
import { type Config, readConfig } from '../config/config.ts';
import { unknownSettings } from '../config/read-settings.ts';
import { seedDevelopment } from '../development/seed.ts';
import { followParentClock } from '../development/test-clock.ts';
import { createLog } from './log.ts';
import { type Clock, systemClock } from '../platform/clock.ts';
import { CommandError } from './command.ts';

/** A hanging connection must not keep the process: after this it ends anyway. */
const stopWithinMs = 5_000;

/**
 * What lives long is some 25 MB. V8 lets it grow by a tenth before it marks the whole heap, which under
 * load is each 0.7 s and a twentieth of the processor time; it may be three times as much.
 */
const heapGrowthPercent = 200;

/** Runs the service until a signal ends it; prints one line of JSON when it answers. */
export async function runService(): Promise<void> {
  const config = readConfig(process.env);
  setFlagsFromString(`--heap-growing-percent=${heapGrowthPercent}`);
  // Whoever read the log may be gone; that is no reason to stop.
  process.stderr.on('error', () => undefined);
  const log = createLog(config.logLevel, process.stderr);
  for (const name of unknownSettings(process.env))
    log.warn({ name }, 'ignoring an environment variable that is not a setting');
  const clock = config.testClock ? followParentClock() : systemClock;
  const service = await assemble(config, clock, log);

  let stopping = false;
  const drainAndStop = async (): Promise<void> => {
    service.drain();
    if (config.drainMs > 0) await sleep(config.drainMs);
    setTimeout(() => process.exit(1), stopWithinMs).unref();
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
    // It listens already: without this it would live on, and nobody would know that it is not ready.
    await service.stop();
    throw error;
  }
}

/** @throws CommandError that names the setting when the address cannot be listened on. */
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
  EADDRINUSE: 'another process uses the port; stop it or set another PORT',
  EACCES: 'this user may not use the port; set a PORT above 1023',
  EADDRNOTAVAIL: 'this machine does not have the address; set another HOST',
  ENOTFOUND: 'the host name does not resolve; set another HOST',
};

/** Listens, and prints the line that says so. */
async function announce(
  service: Service,
  config: Config,
  clock: Clock,
  log: Logger,
): Promise<void> {
  const url = service.listensOn(await listen(service, config));
  const keys = config.development
    ? { keys: await seedDevelopment(service, clock, config.dataDirectory, url) }
    : {};
  const panelUrl = `${url}/panel/`;
  const first = await service.users.links.makeFirst();
  const setup = first === undefined ? {} : { setup_url: `${panelUrl}#/setup?token=${first}` };
  log.info({ url }, 'ready');
  process.stdout.write(
    `${JSON.stringify({ ready: true, url, panel_url: panelUrl, ...setup, ...keys })}\n`,
  );
}
