import { setTimeout as sleep } from 'node:timers/promises';
import { pino } from 'pino';
import { assemble } from '../assemble.ts';
import { readConfig } from '../config.ts';
import { seedDevelopment } from '../development/seed.ts';
import { createLog } from '../log/create-log.ts';
import { systemClock } from '../platform/clock.ts';

/** A hanging connection must not keep the process: after this it ends anyway. */
const stopWithinMs = 5_000;

/** Runs the service until a signal ends it; prints one line of JSON when it answers. */
export async function runService(): Promise<void> {
  const config = readConfig(process.env);
  const log = createLog(config.logLevel, pino.destination(2));
  const service = await assemble(config, systemClock, log);

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

  const url = service.listensOn(await service.app.listen({ host: config.host, port: config.port }));
  const keys = config.development
    ? { keys: await seedDevelopment(service, systemClock, config.dataDirectory, url) }
    : {};
  const panelUrl = `${url}/panel/`;
  const first = await service.users.links.makeFirst();
  const setup = first === undefined ? {} : { setup_url: `${panelUrl}#/setup?token=${first}` };
  log.info({ url }, 'ready');
  process.stdout.write(
    `${JSON.stringify({ ready: true, url, panel_url: panelUrl, ...setup, ...keys })}\n`,
  );
}
