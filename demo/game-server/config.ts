import { resolve } from 'node:path';

/** What the game server is told by its environment. */
export interface GameServerConfig {
  /** 0 takes any free port. */
  port: number;
  serviceUrl: string;
  /** `sk_…`: registers the webhook. */
  secretKey: string;
  /** `pk_…`: handed to the game. */
  publishableKey: string;
  dataDir: string;
  /** Another origin that the game may be served from; the server's own needs no entry. */
  demoOrigin?: string;
}

/** @throws Error that names the variable and what it is for. */
export function readConfig(environment: NodeJS.ProcessEnv): GameServerConfig {
  const need = (name: string, meaning: string): string => {
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
    serviceUrl: need('SERVICE_URL', 'the address of the ad service').replace(/\/+$/, ''),
    secretKey: need('SECRET_KEY', 'a secret key (sk_sandbox_…)'),
    publishableKey: need('PUBLISHABLE_KEY', 'a publishable key (pk_sandbox_…)'),
    dataDir: resolve(environment['DATA_DIR'] ?? '.trueward/game-server'),
    ...(demoOrigin ? { demoOrigin } : {}),
  };
}
