import { installStandIn } from './stand-in.ts';

/** How the portals write their names. */
const titles: Record<string, string> = {
  crazygames: 'CrazyGames',
  poki: 'Poki',
  gamedistribution: 'GameDistribution',
  gamesnacks: 'GameSnacks',
  google_h5: 'Google H5',
  yandex: 'Yandex Games',
  facebook: 'Facebook',
  youtube: 'YouTube',
};

/** Puts a stand-in for a portal's SDK into the page. Its ads are a cover with two buttons. */
export function installPortal(name: string): void {
  installStandIn(name, {
    answer: 'ad',
    order: 'documented',
    play: (kind) =>
      new Promise((resolve) => {
        const ad = document.createElement('div');
        ad.dataset['testid'] = 'portal-ad';
        ad.style.cssText =
          'position:fixed;inset:0;z-index:9;display:grid;place-content:center;gap:12px;padding:16px;' +
          'background:#17152e;color:#fff;font:18px system-ui;text-align:center';
        const title = document.createElement('p');
        title.textContent = `A stand-in for an ad of ${titles[name] ?? name} (${kind})`;
        const end = (isWatched: boolean): void => {
          ad.remove();
          resolve(isWatched);
        };
        ad.append(
          title,
          createButton('Watch to the end', '#ffc857', () => end(true)),
          createButton('Close early', '#e8e4ff', () => end(false)),
        );
        document.body.append(ad);
      }),
  });
}

function createButton(text: string, color: string, onClick: () => void): HTMLButtonElement {
  const button = document.createElement('button');
  button.textContent = text;
  button.style.cssText = `padding:10px 16px;font:inherit;background:${color};color:#17152e`;
  button.addEventListener('click', onClick);
  return button;
}
