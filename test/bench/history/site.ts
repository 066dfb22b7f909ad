import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Decision, Webhook } from '../../../protocol/wire.ts';
import { createPanelClient, type PanelClient } from '../../../service/test/http/panel-client.ts';
import type { RunningService } from '../../../service/test/start-service.ts';
import type { Owner } from './fill.ts';
import type { Store } from './stores.ts';

const email = 'owner@example.com';

/** A history that has been generated, and whose. */
export interface History extends Owner {
  stored: number;
}

/** Services that use a store, as the game's players, its server and an operator see them. */
export interface Site {
  store: Store;
  services: readonly RunningService[];
  webhookId: string;
  /** Reads a page as the panel does. */
  read(path: string): Promise<unknown>;
  /** Reads a response without keeping it, until the signal is aborted. Returns how many lines it had. */
  countLines(path: string, stopping: AbortSignal): Promise<number>;
  /** Calls the API with the secret key. */
  call<T>(method: string, path: string, body?: object): Promise<T>;
  /** Requests an ad from one of the services. */
  decide(placement: string, index?: number, player?: string): Promise<Decision>;
  stop(): Promise<void>;
}

/** Reads which history the store has. Creates what it belongs to if there is none. */
export async function prepareHistory(store: Store): Promise<History> {
  const known = readHistory(store);
  if (known) return known;
  const service = await store.startService();
  const token = new URL(service.setupUrl ?? '').hash.replace('#/setup?token=', '');
  const panel = createPanelClient(service.url, 'live');
  expectSuccess(await panel.setUp(token, email));
  const webhook = await callApi<Webhook>(service, 'POST', '/v1/webhooks', {
    url: 'https://receiver.invalid/',
    events: ['decision.rewarded'],
  });
  await callApi(service, 'POST', '/v1/decisions', { placement: 'revive', user_ref: 'exported' });
  await service.stop();
  const database = await store.open();
  const [row] = await database.query<{ accountId: string; viewer: string }>(
    `SELECT account_id AS "accountId", viewer FROM decisions WHERE environment = 'live'`,
  );
  await database.close();
  if (!row) throw new Error('The decision was not stored.');
  const history = { ...row, webhookId: webhook.id, stored: 0 };
  writeHistory(store, history);
  return history;
}

const fileOf = ({ folder }: Store): string => join(folder, 'history.json');
const readHistory = (store: Store): History | undefined =>
  existsSync(fileOf(store))
    ? (JSON.parse(readFileSync(fileOf(store), 'utf8')) as History)
    : undefined;
export const writeHistory = (store: Store, history: History): void =>
  writeFileSync(fileOf(store), JSON.stringify(history));

/** Starts a service on the store, on a server another one, and signs in. */
export async function openSite(store: Store, { webhookId }: History): Promise<Site> {
  const services = [await store.startService()];
  if (store.postgres) services.push(await store.startService());
  const [service] = services;
  if (!service) throw new Error('No service has been started.');
  const panel: PanelClient = createPanelClient(service.url, 'live');
  expectSuccess(await panel.signIn(email));
  return {
    store,
    services,
    webhookId,
    async read(path) {
      return expectSuccess(await panel.send('GET', path));
    },
    async countLines(path, stopping) {
      const authorization = `Bearer ${service.keys.live.secret}`;
      const response = await fetch(service.url + path, { headers: { authorization } });
      if (!response.ok) throw new Error(`GET ${path}: ${response.status}`);
      let lines = 0;
      for await (const chunk of response.body as unknown as AsyncIterable<Uint8Array>) {
        lines += chunk.filter((byte) => byte === 10).length;
        if (stopping.aborted) break;
      }
      return lines;
    },
    call: (method, path, body) => callApi(service, method, path, body),
    decide: (placement, index = 0, player = 'operator') =>
      callApi(services[index] ?? service, 'POST', '/v1/decisions', { placement, user_ref: player }),
    async stop() {
      for (const running of services) await running.stop();
    },
  };
}

function expectSuccess<T extends { status: number; body: unknown }>(response: T): T {
  if (response.status < 300) return response;
  throw new Error(`${response.status} ${JSON.stringify(response.body)}`);
}

async function callApi<T>(
  { url, keys }: RunningService,
  method: string,
  path: string,
  body?: object,
): Promise<T> {
  const response = await fetch(url + path, {
    method,
    headers: {
      authorization: `Bearer ${keys.live.secret}`,
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`);
  return (text === '' ? undefined : JSON.parse(text)) as T;
}
