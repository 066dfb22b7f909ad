import type { AdIcon } from '../../protocol/wire.ts';
import type { OverlayContent, OverlayHooks, OverlayParts } from './overlay-parts.ts';
import type { OverlayStrings } from './strings.ts';

/** The icon's tap target is at least 44 px high, regardless of the image size. */
const css = `
.skip, .skip:hover { position: absolute; bottom: .6em; inset-inline-end: .6em; background: var(--trueward-ui-background); box-shadow: 0 0 0 1px }
.icon { position: absolute; top: 0; right: 0; display: flex; justify-content: end; font-size: .8em }
.icon a { min-height: 44px; align-items: inherit; justify-content: inherit; padding: 0; border-radius: 0; background: none }
.icon img { max-width: 35cqw; max-height: 20cqh; object-fit: contain }
.left { right: auto; left: 0; justify-content: start }
.bottom { top: auto; bottom: 0; align-items: end }
.bottom + .skip { bottom: max(4em, 54px) }
.failed { padding: .3em; background: var(--trueward-ui-background) }
.over :is(.icon, .skip) { display: none }
@container (max-height: 200px) {
  .icon { top: 0; bottom: auto; align-items: start }
  .icon + .skip, .skip { bottom: .3em; right: auto; left: .3em }
}
`;

/**
 * Adds the elements that an ad from an external source requires: the advertiser's name for screen readers, an icon that
 * links to an explanation of how the ad was selected (AdChoices), and a skip button.
 *
 * @returns A callback to call with the ad's progress.
 */
export function decorate(
  { advertiser, icon, skip_after_ms: skipAfterMs = Infinity }: OverlayContent['creative'],
  { dialog, endCard, heading }: OverlayParts,
  strings: OverlayStrings,
  hooks: OverlayHooks,
): (watchedMs: number) => void {
  if (advertiser !== undefined)
    dialog.ariaLabel = `${strings.advertisement}: ${advertiser}: ${heading.textContent}`;
  const root = dialog.getRootNode() as ShadowRoot;
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(css);
  root.adoptedStyleSheets = root.adoptedStyleSheets.concat(sheet);
  const skip = document.createElement('button');
  skip.type = 'button';
  skip.hidden = true;
  skip.className = 'skip';
  skip.textContent = strings.skip;
  skip.onclick = hooks.closeRequested;
  if (icon) endCard.before(buildIcon(icon, hooks));
  endCard.before(skip);
  return (watchedMs) => {
    skip.hidden = watchedMs < skipAfterMs;
  };
}

function buildIcon(
  { alt = 'AdChoices', click_url: href = '', height, url, width, x, y }: AdIcon,
  hooks: OverlayHooks,
): HTMLElement {
  const container = document.createElement('div');
  container.className = ['icon', x, y].join(' ');
  const image = Object.assign(new Image(width, height), { alt, src: url });
  image.onerror = () => {
    image.replaceWith(alt);
    container.classList.add('failed');
  };
  container.append(image);
  // Other schemes, such as `javascript:`, could run a script in this page.
  if (/^https?:/i.test(href)) {
    const link = document.createElement('a');
    const onclick = () => hooks.pageOpened();
    const onauxclick = ({ button }: MouseEvent) => button === 1 && onclick();
    container.append(
      Object.assign(link, { href, target: '_blank', rel: 'noopener', onclick, onauxclick }),
    );
    link.append(image);
  }
  return container;
}
