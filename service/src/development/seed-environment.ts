import type { Clock } from '../platform/clock.ts';
import type { ResourceStore } from '../resource/resource-store.ts';
import type { Scope } from '../store/database.ts';
import type { Queries } from '../store/database.ts';
import type { Stored } from '../resource/resource.ts';

/** Seeds one environment of the demo account with placements, demand, and an ad for each placement. */
export async function seedEnvironment(
  queries: Queries,
  resources: ResourceStore,
  clock: Clock,
  scope: Scope,
  serviceUrl: string,
): Promise<void> {
  for (const placement of demoPlacements)
    await resources.create(queries, scope, 'placement', placement);
  const source = await resources.create(queries, scope, 'source', {
    name: 'House',
    kind: 'house',
    status: 'active',
  });
  for (const { advertiser, creative, houseAd } of demoCreatives(`${serviceUrl}/media`)) {
    const { id: advertiserId } = await resources.create(queries, scope, 'advertiser', advertiser);
    const { id: creativeId } = await resources.create(queries, scope, 'creative', {
      ...creative,
      advertiser_id: advertiserId,
      source_id: source.id,
      review: {
        status: 'approved',
        reviewed_at: new Date(clock.nowMs()).toISOString(),
        reviewed_by: 'seed',
      },
    });
    await resources.create(queries, scope, 'houseAd', {
      ...houseAd,
      creative_id: creativeId,
      priority: 5,
      status: 'active',
    });
  }
}

interface DemoAd {
  advertiser: Stored<'advertiser'>;
  creative: Omit<Stored<'creative'>, 'advertiser_id' | 'source_id' | 'review'>;
  houseAd: Pick<Stored<'houseAd'>, 'name' | 'placements' | 'weight'>;
}

const advertiser = (name: string) => ({
  name,
  domain: `${name.toLowerCase()}.example`,
  categories: [],
});

/** The ads of the demo account; `media` is the base URL of their files. */
function demoCreatives(media: string): DemoAd[] {
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
      advertiser: advertiser('Meadow'),
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
      houseAd: { name: 'Meadow', placements: ['revive', 'double-coins', 'level-end'], weight: 6 },
    },
    {
      advertiser: advertiser('Harbour'),
      creative: {
        name: 'Harbour',
        media: image('harbour.png', 1_200, 675),
        click_url: 'https://harbour.example/',
        alt: 'A picture of a harbour at dusk.',
        categories: [],
      },
      houseAd: { name: 'Harbour', placements: ['revive', 'double-coins', 'level-end'], weight: 2 },
    },
    {
      advertiser: advertiser('Lantern'),
      creative: {
        name: 'Lantern',
        media: { format: 'html', url: `${media}/lantern.html`, width: 640, height: 360 },
        click_url: 'https://lantern.example/',
        alt: 'A small game with lanterns.',
        categories: [],
      },
      houseAd: { name: 'Lantern', placements: ['revive', 'double-coins', 'level-end'], weight: 2 },
    },
    {
      advertiser: advertiser('Lobby'),
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

const common = {
  cooldown_s: 0,
  min_view_ms: 5_000,
  close_after_ms: 5_000,
  late_window_s: 86_400,
  status: 'active',
} as const;

/** The placements of the demo game. */
const demoPlacements: Stored<'placement'>[] = [
  { ...common, name: 'revive', format: 'rewarded', reward: { type: 'coins', amount: 25 } },
  { ...common, name: 'double-coins', format: 'rewarded', reward: { type: 'coins', amount: 50 } },
  { ...common, name: 'level-end', format: 'interstitial' },
  { ...common, name: 'lobby', format: 'banner', close_after_ms: 0 },
];
