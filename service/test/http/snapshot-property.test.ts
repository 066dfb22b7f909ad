import fc from 'fast-check';
import { pino } from 'pino';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { readWhole } from '../../../scripts/lib/read-whole.mjs';
import { systemClock } from '../../src/platform/time.ts';
import { openConfiguration } from '../../src/decision/configuration.ts';
import { type InProcessService, startInProcess } from '../in-process.ts';
import { type Client, createClient } from './client.ts';

let runningService: InProcessService;
let clients: Client[];
beforeAll(async () => {
  runningService = await startInProcess({ RATE_LIMITS: 'off' });
  clients = [createClient(runningService), createClient(runningService, 'live')];
});
afterAll(() => runningService.stop());

/** An operator's action. `object` selects an existing object, and `value` determines the request body. */
interface Step {
  environment: 0 | 1;
  action: 'create' | 'update' | 'archive' | 'review' | 'roll' | 'rotate_secret';
  kind: keyof typeof kinds;
  object: number;
  value: number;
}

type Ids = Record<string, string[]>;
const selectId = (list: readonly string[] | undefined, index: number): string =>
  list?.[index % Math.max(1, list.length)] ?? 'none';
const statuses = ['active', 'paused'];

/**
 * Request bodies for creating and updating objects of each kind. Some are invalid, because rejected requests must not
 * change anything.
 */
const kinds = {
  placements: {
    create: (value: number) => ({ name: `p-${value % 20}`, format: 'banner' }),
    update: (value: number) => ({ status: selectId(statuses, value), cooldown_s: value % 100 }),
  },
  sources: {
    create: (value: number) => ({ name: `S${value}`, kind: 'house' }),
    update: (value: number) => ({ status: selectId(statuses, value) }),
  },
  advertisers: {
    create: (value: number) => ({ name: `A${value}`, domain: 'a.example' }),
    update: (value: number) => ({ categories: [`IAB${1 + (value % 9)}`] }),
  },
  creatives: {
    create: (value: number, ids: Ids) => ({
      name: `C${value}`,
      advertiser_id: selectId(ids['advertisers'], value),
      source_id: selectId(ids['sources'], value),
      media: { format: 'html', inline: `<p>${value}</p>`, width: 1, height: 1 },
      alt: '',
    }),
    update: (value: number) => ({ click_url: `https://a.example/${value}` }),
  },
  'house-ads': {
    create: (value: number, ids: Ids) => ({
      name: `H${value}`,
      creative_id: selectId(ids['creatives'], value),
      placements: ['lobby'],
      priority: 1 + (value % 10),
    }),
    update: (value: number) => ({ weight: 1 + (value % 9), status: selectId(statuses, value) }),
  },
  policies: {
    create: (value: number) => ({
      name: `P${value}`,
      kind: selectId(['policy', 'commercial', 'brand_safety'], value),
      block: { domains: ['b.example'] },
    }),
    update: (value: number) => ({ status: selectId(statuses, value) }),
  },
  'ad-rules': {
    create: (value: number) => ({ formats: ['interstitial'], gap_s: value % 100 }),
    update: (value: number) => ({ enabled: value % 2 === 0 }),
  },
  'kill-switches': {
    create: (value: number, ids: Ids) => ({
      scope: 'source',
      target_id: selectId(ids['sources'], value),
      state: selectId(['on', 'off'], value),
    }),
    update: (value: number) => ({ state: selectId(['on', 'off'], value) }),
  },
  webhooks: {
    create: () => ({ url: 'https://receiver.example/', events: ['decision.served'] }),
    update: (value: number) => ({ status: selectId(['enabled', 'disabled'], value) }),
  },
  keys: {
    create: (value: number) => ({
      kind: 'publishable',
      allowed_origins: [`https://${value}.example`],
    }),
    update: (value: number) => ({ allowed_origins: [`https://${value}.example`] }),
  },
};

const steps = fc.array(
  fc.record<Step>({
    environment: fc.constantFrom(0, 1),
    action: fc.constantFrom(
      ...(['create', 'create', 'create', 'update', 'update', 'archive'] as const),
      ...(['review', 'roll', 'rotate_secret'] as const),
    ),
    kind: fc.constantFrom(...(Object.keys(kinds) as Step['kind'][])),
    object: fc.nat(1_000),
    value: fc.nat(1_000),
  }),
  { minLength: 4, maxLength: 16 },
);

/** Reads the ids of all objects, newest first. Excludes the keys that the test uses. */
async function readIds({ call, secret }: Client): Promise<Ids> {
  const entries = Object.keys(kinds).map(async (kind) => {
    const { body } = await call<{ data: { id: string; kind?: string }[] }>(
      'GET',
      `/v1/${kind}?limit=30`,
      secret,
    );
    return [kind, body.data.filter((key) => key.kind !== 'secret').map(({ id }) => id)] as const;
  });
  return Object.fromEntries(await Promise.all(entries));
}

async function perform({ environment, action, kind, object, value }: Step): Promise<number> {
  const client = clients[environment] as Client;
  const ids = await readIds(client);
  const path = `/v1/${kind}`;
  const createPath = (name: string) => `/v1/${name}/${selectId(ids[name], object)}`;
  const [method, requestPath, body] = {
    create: ['POST', path, kinds[kind].create(value, ids)],
    update: ['PATCH', createPath(kind), kinds[kind].update(value)],
    archive: ['DELETE', createPath(kind), undefined],
    review: [
      'POST',
      `${createPath('creatives')}/review`,
      { status: selectId(['approved', 'rejected', 'suspended'], value) },
    ],
    roll: ['POST', `${createPath('keys')}/roll`, { overlap_s: value }],
    rotate_secret: ['POST', `${createPath('webhooks')}/rotate_secret`, { overlap_s: value }],
  }[action] as [string, string, object | undefined];
  return (await client.call(method, requestPath, client.secret, body)).status;
}

/** Returns all configuration data that decisions read for these keys and their accounts, in both environments. */
function readContents(
  configuration: Awaited<ReturnType<typeof openConfiguration>>,
  keys: { account_id: string; hash: string }[],
) {
  const accounts = [...new Set(keys.map(({ account_id }) => account_id))];
  return {
    keys: keys.map(({ hash }) => configuration.findKey(hash)),
    snapshots: accounts.flatMap((accountId) =>
      (['sandbox', 'live'] as const).map((environment) => {
        // Operators cannot create external creatives, so the function that finds them is not compared.
        const { findExternalCreative: _find, ...snapshot } = configuration.snapshot({
          accountId,
          environment,
        });
        return snapshot;
      }),
    ),
  };
}

test('the in-memory snapshot equals a rebuilt one after any sequence of changes', async () => {
  const { database, configuration } = runningService.service;
  const statusCounts = new Map<number, number>();
  await fc.assert(
    fc.asyncProperty(steps, async (sequence) => {
      for (const [index, step] of sequence.entries()) {
        const nextStep = sequence[index + 1];
        // Every third action runs concurrently with the next one.
        const concurrentSteps = index % 3 === 0 && nextStep ? [step, nextStep] : [step];
        for (const status of await Promise.all(concurrentSteps.map(perform))) {
          statusCounts.set(status, (statusCounts.get(status) ?? 0) + 1);
          expect(status).toBeLessThan(500);
        }
        const rebuiltConfiguration = await openConfiguration({
          database,
          clock: systemClock,
          log: pino({ level: 'silent' }),
          pollMs: 3_600_000,
        });
        await rebuiltConfiguration.stop();
        const keys = await database.query<{ account_id: string; hash: string }>(
          'SELECT account_id, hash FROM keys ORDER BY id',
        );
        expect(readContents(configuration, keys)).toEqual(readContents(rebuiltConfiguration, keys));
      }
    }),
    { numRuns: readWhole('TRUEWARD_SEQUENCES', inject('full') ? 40 : 5) },
  );
  // The test is meaningful only if some requests were accepted.
  expect(
    (statusCounts.get(200) ?? 0) + (statusCounts.get(201) ?? 0) + (statusCounts.get(204) ?? 0),
  ).toBeGreaterThan(20);
});
