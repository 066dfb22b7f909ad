import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Review } from '@trueward/protocol/wire';
import type { Service } from '../assemble.ts';
import { testAd } from '../../demand/index.ts';
import { createKey } from '../../access/key-store.ts';
import type { Environment } from '../../access/principal.ts';
import { makeDataFolder, replaceFile } from '../../platform/durable-files.ts';
import { type Clock, formatInstant } from '../../platform/time.ts';
import { incrementConfigVersion } from '../../store/config-version.ts';
import type { ResourceStore } from '../../resource/resource-store.ts';
import type { Stored } from '../../resource/resource.ts';
import type { Queries, Scope } from '../../store/database.ts';

/**
 * The demo account's keys. They are stored in a file in the data folder, because the database contains only hashes.
 */
export type DevelopmentKeys = Record<Environment, { publishable: string; secret: string }>;

/** How long a process waits while another one creates the demo account, in milliseconds. */
const seedTimeoutMs = 60_000;

/**
 * Creates the demo account on the first start in development mode, and returns its keys. If several processes start at
 * the same time, only one of them creates the account. If the service's URL has changed, updates the media URLs.
 */
export async function seedDevelopment(
  service: Service,
  clock: Clock,
  dataDirectory: string,
  url: string,
): Promise<DevelopmentKeys> {
  const file = join(dataDirectory, 'development.json');
  const { database } = service;
  // The lock table is in the database that is used for schema changes.
  const seed = await (database.schema ?? database).transaction(
    async (queries) => {
      await queries.query(
        `INSERT INTO migration_lock VALUES ('development')
        ON CONFLICT (account_id) DO UPDATE SET account_id = excluded.account_id`,
      );
      const existingSeed = readSeed(file);
      if (existingSeed && (await accountExists(queries, existingSeed)))
        return existingSeed.url === url ? existingSeed : moveSeed(queries, file, existingSeed, url);
      const newSeed = await makeAccount(queries, service, clock, url);
      // The file is written before the commit, because the keys in the database are unusable without it.
      await writeSeed(file, newSeed);
      return newSeed;
    },
    { lockTimeoutMs: seedTimeoutMs },
  );
  await service.configuration.refresh();
  return seed.keys;
}

/**
 * Returns whether the account in the file exists. It may not exist if the transaction that created it failed to commit,
 * or if the file was written for another database.
 */
async function accountExists(queries: Queries, { accountId }: Seed): Promise<boolean> {
  const accounts = await queries.query('SELECT 1 FROM accounts WHERE account_id = $1', [accountId]);
  return accounts.length > 0;
}

async function makeAccount(
  queries: Queries,
  { makeId, resources }: Service,
  clock: Clock,
  url: string,
): Promise<Seed> {
  const accountId = makeId('account');
  await queries.query('INSERT INTO accounts (account_id, name, created_at) VALUES ($1, $2, $3)', [
    accountId,
    'Demo',
    new Date(clock.nowMs()),
  ]);
  const makeKeyPair = async (environment: Environment) => {
    await seedEnvironment(queries, resources, clock, { accountId, environment }, url);
    const makeDemoKey = (kind: 'pk' | 'sk') =>
      createKey(queries, clock, makeId, { accountId, environment, kind, allowedOrigins: ['*'] });
    return { publishable: (await makeDemoKey('pk')).text, secret: (await makeDemoKey('sk')).text };
  };
  const keys = { sandbox: await makeKeyPair('sandbox'), live: await makeKeyPair('live') };
  await incrementConfigVersion(queries, accountId);
  return { accountId, url, keys };
}

interface Seed {
  accountId: string;
  url: string;
  keys: DevelopmentKeys;
}

function readSeed(file: string): Seed | undefined {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as Seed;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw error;
  }
}

async function writeSeed(file: string, seed: Seed): Promise<void> {
  makeDataFolder(dirname(file));
  await replaceFile(file, JSON.stringify(seed, undefined, 2));
}

/** Updates the media URLs in the account's creatives after the service's URL has changed. */
async function moveSeed(queries: Queries, file: string, old: Seed, url: string): Promise<Seed> {
  await queries.query(
    `UPDATE resources SET document = replace(document::text, $2, $3)::jsonb
      WHERE account_id = $1 AND kind = 'creative'`,
    [old.accountId, `"${old.url}/media/`, `"${url}/media/`],
  );
  await incrementConfigVersion(queries, old.accountId);
  const seed = { ...old, url };
  await writeSeed(file, seed);
  return seed;
}

/** Seeds one of the demo account's environments with placements, demand, and an ad for each placement. */
async function seedEnvironment(
  queries: Queries,
  resources: ResourceStore,
  clock: Clock,
  scope: Scope,
  serviceUrl: string,
): Promise<void> {
  for (const placement of demoPlacements)
    await resources.create(queries, scope, 'placement', placement);
  if (scope.environment === 'sandbox')
    await seedExternalSource(queries, resources, clock, scope, serviceUrl);
  const source = await resources.create(queries, scope, 'source', {
    name: 'House',
    kind: 'house',
    status: 'active',
  });
  for (const { advertiser, creative, houseAd } of makeDemoCreatives(`${serviceUrl}/media`)) {
    const { id: advertiserId } = await resources.create(queries, scope, 'advertiser', advertiser);
    const { id: creativeId } = await resources.create(queries, scope, 'creative', {
      ...creative,
      advertiser_id: advertiserId,
      source_id: source.id,
      review: makeSeedReview(clock),
    });
    await resources.create(queries, scope, 'houseAd', {
      ...houseAd,
      creative_id: creativeId,
      priority: 5,
      status: 'active',
    });
  }
}

/**
 * Seeds a placement that the built-in test source fills. Also seeds the source's creative as approved, so that the
 * first ad needs no review.
 */
async function seedExternalSource(
  queries: Queries,
  resources: ResourceStore,
  clock: Clock,
  scope: Scope,
  serviceUrl: string,
): Promise<void> {
  await resources.create(queries, scope, 'placement', externalPlacement);
  const source = await resources.create(queries, scope, 'source', {
    name: 'Test network',
    kind: 'vast',
    tag_url: testAd.tagUrl,
    placements: [externalPlacement.name],
    cpm_micros: 2_500_000,
    review: 'automatic',
    allowed_domains: [testAd.advertiserDomain],
    status: 'active',
  });
  const { id: advertiserId } = await resources.create(queries, scope, 'advertiser', {
    name: testAd.advertiserName,
    domain: testAd.advertiserDomain,
    categories: [],
  });
  await resources.create(queries, scope, 'creative', {
    name: `${testAd.advertiserName}: test ad`,
    advertiser_id: advertiserId,
    source_id: source.id,
    source_key: testAd.creativeKey,
    origin_url: testAd.mediaUrl,
    media: {
      format: 'video',
      files: [
        {
          url: `${serviceUrl}/media/${testAd.file}`,
          mime: 'video/mp4',
          width: 640,
          height: 360,
        },
      ],
      duration_ms: 12_000,
    },
    click_url: `https://${testAd.advertiserDomain}/`,
    alt: `Video ad by ${testAd.advertiserName}`,
    categories: [],
    review: makeSeedReview(clock),
  });
}

const makeSeedReview = (clock: Clock): Review => ({
  status: 'approved',
  reviewed_at: formatInstant(clock.nowMs()),
  reviewed_by: 'seed',
});

interface DemoAd {
  advertiser: Stored<'advertiser'>;
  creative: Omit<Stored<'creative'>, 'advertiser_id' | 'source_id' | 'review'>;
  houseAd: Pick<Stored<'houseAd'>, 'name' | 'placements' | 'weight'>;
}

const makeAdvertiser = (name: string) => ({
  name,
  domain: `${name.toLowerCase()}.example`,
  categories: [],
});

/** The placements that most of the demo account's ads are for. */
const filmPlacements = ['revive', 'double-coins', 'level-end', 'earn-gems', 'double-sparks'];

/** Returns the demo account's ads. `media` is the base URL for their files. */
function makeDemoCreatives(media: string): DemoAd[] {
  const image = (file: string, width: number, height: number) => ({
    format: 'image' as const,
    files: [{ url: `${media}/${file}`, mime: 'image/png', width, height }],
  });
  const video = (file: string, mime: string) => ({
    url: `${media}/${file}`,
    mime,
    width: 640,
    height: 360,
  });
  return [
    {
      advertiser: makeAdvertiser('Meadow'),
      creative: {
        name: 'Meadow',
        media: {
          format: 'video',
          files: [video('meadow.mp4', 'video/mp4'), video('meadow.webm', 'video/webm')],
          duration_ms: 12_000,
          poster: `${media}/meadow-poster.jpg`,
        },
        click_url: 'https://meadow.example/',
        alt: 'A short film of a meadow in the wind.',
        categories: [],
      },
      houseAd: { name: 'Meadow', placements: filmPlacements, weight: 6 },
    },
    {
      advertiser: makeAdvertiser('Harbour'),
      creative: {
        name: 'Harbour',
        media: image('harbour.png', 1_200, 675),
        click_url: 'https://harbour.example/',
        alt: 'A picture of a harbor at dusk.',
        categories: [],
      },
      houseAd: { name: 'Harbour', placements: filmPlacements, weight: 2 },
    },
    {
      advertiser: makeAdvertiser('Lantern'),
      creative: {
        name: 'Lantern',
        media: { format: 'html', url: `${media}/lantern.html`, width: 640, height: 360 },
        click_url: 'https://lantern.example/',
        alt: 'A small game with lanterns.',
        categories: [],
      },
      houseAd: { name: 'Lantern', placements: filmPlacements, weight: 2 },
    },
    {
      advertiser: makeAdvertiser('Lobby'),
      creative: {
        name: 'Lobby banner',
        media: image('lobby-banner.png', 640, 100),
        click_url: 'https://lobby.example/',
        alt: 'A banner for the next adventure.',
        categories: [],
      },
      houseAd: { name: 'Lobby banner', placements: ['lobby'], weight: 1 },
    },
  ];
}

const sharedSettings = {
  cooldown_s: 0,
  min_view_ms: 5_000,
  close_after_ms: 5_000,
  late_window_s: 86_400,
  status: 'active',
} as const;

/** The demo game's placements. */
const demoPlacements: Stored<'placement'>[] = [
  { ...sharedSettings, name: 'revive', format: 'rewarded', reward: { type: 'coins', amount: 25 } },
  {
    ...sharedSettings,
    name: 'double-coins',
    format: 'rewarded',
    reward: { type: 'coins', amount: 50 },
  },
  {
    ...sharedSettings,
    name: 'earn-gems',
    format: 'rewarded',
    reward: { type: 'gems', amount: 5, credit: 'wallet' },
  },
  {
    ...sharedSettings,
    name: 'double-sparks',
    format: 'rewarded',
    reward: { type: 'double_sparks', amount: 1, credit: 'wallet', duration_s: 600 },
  },
  { ...sharedSettings, name: 'level-end', format: 'interstitial' },
  { ...sharedSettings, name: 'lobby', format: 'banner', close_after_ms: 0 },
];

/** The placement that the test source fills. Both exist only in the sandbox. */
const externalPlacement: Stored<'placement'> = {
  ...sharedSettings,
  name: 'treasure',
  format: 'rewarded',
  reward: { type: 'coins', amount: 40 },
};
