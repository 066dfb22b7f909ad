#!/usr/bin/env node
import { parseArgs } from 'node:util';
import { start } from './cli/start.ts';
import { ConfigError } from './config.ts';
import { DirectoryInUseError } from './store/directory-lock.ts';

const help = `Usage: trueward-service <command>

Commands
  start   run the service until SIGTERM or Ctrl-C

Environment
  TRUEWARD_DATA_DIR      folder of the embedded database (default .trueward)
  DATABASE_URL           a PostgreSQL server instead of the embedded database
  HOST, PORT             where to listen (default 127.0.0.1, 8700; port 0: any free one)
  PUBLIC_URL             the address by which clients know the service
  TRUEWARD_MEDIA_DIR     folder of the files under /media/ (default demo/creatives/dist)
  TRUEWARD_MASTER_KEY    32 bytes in base64 that encrypt secrets at rest (default: master.key in the data folder)
  TRUEWARD_DEVELOPMENT   1: seed a demo account, print its keys, let sandbox webhooks go to this machine
  RATE_LIMITS            on or off (default on)
  METRICS_TOKEN          what /metrics asks for as a bearer token (default: only this machine may ask)
  LOG_LEVEL              fatal, error, warn, info, debug, trace or silent (default info)
`;

try {
  await run();
} catch (error) {
  // What a person can put right is told in words; anything else shows where it came from.
  const known = error instanceof ConfigError || error instanceof DirectoryInUseError;
  console.error(known ? error.message : error);
  process.exit(1);
}

async function run(): Promise<void> {
  const { values, positionals } = parseArgs({
    options: { help: { type: 'boolean', short: 'h', default: false } },
    allowPositionals: true,
  });
  const [command, ...rest] = positionals;
  if (values.help || command === 'help') {
    console.log(help);
  } else if (command === 'start' && rest.length === 0) {
    await start();
  } else {
    console.error(
      `${command === undefined ? 'Say what to do.' : `There is no command ${positionals.join(' ')}.`}\n\n${help}`,
    );
    process.exitCode = 2;
  }
}
