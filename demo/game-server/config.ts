import { resolve } from 'node:path';

/** The game server's configuration, read from environment variables. */
export interface GameServerConfig {
  /** 0 means any free port. */
  port: number;
  serviceUrl: string;
  /** The secret key, `sk_…`, which is used to register the webhook. */
  secretKey: string;
  /** The publishable key, `pk_…`, which is passed to the game. */
  publishableKey: string;
  dataDir: string;
  /** Another origin that may serve the game, in addition to this server. */
  demoOrigin?: string;
}

/** @throws Error that names the missing variable and its purpose. */
export function readConfig(environment: NodeJS.ProcessEnv): GameServerConfig {
  const requireVariable = (name: string, meaning: string): string => {
    const value = environment[name];
    if (!value) throw new Error(`${name} is not set: expected ${meaning}.`);
    return value;
  };
  const port = Number(environment['PORT'] ?? 0);
  if (!Number.isInteger(port) || port < 0 || port > 65_535) {
    throw new Error(`PORT must be a port number, got ${JSON.stringify(environment['PORT'])}.`);
  }
  const demoOrigin = environment['DEMO_ORIGIN'];
  return {
    port,
    serviceUrl: requireVariable('SERVICE_URL', 'the URL of the ad service').replace(/\/+$/, ''),
    secretKey: requireVariable('SECRET_KEY', 'a secret key (sk_sandbox_…)'),
    publishableKey: requireVariable('PUBLISHABLE_KEY', 'a publishable key (pk_sandbox_…)'),
    dataDir: resolve(environment['DATA_DIR'] ?? '.trueward/game-server'),
    ...(demoOrigin ? { demoOrigin } : {}),
  };
}
