import type { Stored } from '../resource/resource.ts';

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

/** The ads of the demo account; `media` is the address of their files. */
export function demoCreatives(media: string): DemoAd[] {
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
