import { existsSync } from 'node:fs';
import { resolve } from 'node:path';

/** Reads the configuration from environment variables or, where they are not set, from `.env`. */
export function readConfig() {
  if (existsSync('.env')) process.loadEnvFile('.env');
  return {
    serviceUrl: requireVariable('SERVICE_URL', 'the URL of the ad service'),
    publishableKey: requireVariable('PUBLISHABLE_KEY', 'a publishable key, pk_sandbox_…'),
    secretKey: requireVariable('SECRET_KEY', 'a secret key, sk_sandbox_…'),
    // In production, set this to the secret of the webhook that you registered.
    webhookSecret: process.env.WEBHOOK_SECRET,
    dataDir: resolve(process.env.DATA_DIR ?? 'data'),
  };
}

function requireVariable(name, meaning) {
  const value = process.env[name];
  if (!value) throw new Error(`${name} is empty: expected ${meaning}. Set it in .env.`);
  return value;
}
