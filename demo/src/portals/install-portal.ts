import { installStandIn } from './stand-in.ts';

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
          'position:fixed;inset:0;z-index:9;display:grid;place-content:center;gap:12px;' +
          'background:#17152e;color:#fff;font:18px system-ui;text-align:center';
        const title = document.createElement('p');
        title.textContent = `An ad of the portal ${name} (${kind})`;
        const end = (isWatched: boolean): void => {
          ad.remove();
          resolve(isWatched);
        };
        ad.append(
          title,
          createButton('Watch to the end', () => end(true)),
          createButton('Close early', () => end(false)),
        );
        document.body.append(ad);
      }),
  });
}

function createButton(text: string, onClick: () => void): HTMLButtonElement {
  const button = document.createElement('button');
  button.textContent = text;
  button.style.cssText = 'padding:10px 16px;font:inherit';
  button.addEventListener('click', onClick);
  return button;
}
