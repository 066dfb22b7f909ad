import { existsSync } from 'node:fs';
import { resolve } from 'node:path';

/** Configuration from environment variables, or else from `.env`. */
export function readConfig() {
  if (existsSync('.env')) process.loadEnvFile('.env');
  return {
    serviceUrl: need('SERVICE_URL', 'the address of the ad service'),
    publishableKey: need('PUBLISHABLE_KEY', 'a publishable key, pk_sandbox_…'),
    secretKey: need('SECRET_KEY', 'a secret key, sk_sandbox_…'),
    // In production: the secret of the webhook that you have registered.
    webhookSecret: process.env.WEBHOOK_SECRET,
    dataDir: resolve(process.env.DATA_DIR ?? 'data'),
  };
}

function need(name, meaning) {
  const value = process.env[name];
  if (!value) throw new Error(`${name} is empty: expected ${meaning}. Fill it in in .env.`);
  return value;
}
