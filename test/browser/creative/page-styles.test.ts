import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { page } from 'vitest/browser';
import { mountBanner } from '../../../src/creative/banner.ts';
import { loadCreative } from '../../../src/creative/load-creative.ts';
import { systemClock } from '../../../src/platform/clock.ts';
import { decide } from '../ad-break/stage-set.ts';
import { kinds, openInState } from './overlay-set.ts';

/** Values of many types. For each property, those that the browser supports are tried. */
const values = [
  'none',
  'hidden',
  'auto',
  'collapse',
  'rtl',
  'vertical-rl',
  'uppercase',
  'center',
  'nowrap',
  'all',
]
  .concat([
    '0',
    '1',
    '2',
    '0.01',
    '3px',
    '-9999px',
    '50%',
    '2s',
    '45deg',
    'red',
    'bold',
    'italic',
    'monospace',
  ])
  .concat([
    '"x"',
    'disc',
    'break-all',
    'pre',
    'flex',
    'left',
    'fixed',
    'absolute',
    'inert',
    'light',
    'wait',
    'cover',
  ])
  .concat([
    'bidi-override',
    'scale(0)',
    'inset(50%)',
    'blur(20px)',
    'url(#x)',
    'linear-gradient(red, red)',
    '0.5',
  ]);
const properties = Array.from(getComputedStyle(document.documentElement)).concat(['zoom', 'all']);
const supported = new Map(
  properties.map((name) => [name, values.filter((value) => CSS.supports(name, value))]),
);
const rounds = Math.max(...Array.from(supported.values(), ({ length }) => length));
/** These hide or zoom the page itself. The last test is about zoom. */
const changesPage = /^(?:display|content|content-visibility|all|zoom)$/;

/** Every property in its nth value, on the root, on `*` and on elements by name, with `!important`. */
function pageStyles(round: number): string {
  const declare = (names: string[]) =>
    names
      .map((name) => [name, supported.get(name)] as const)
      .filter(([, options]) => options && options.length > 0)
      .map(([name, options]) => `${name}: ${options?.[round % options.length]} !important;`)
      .join('');
  const elements = '*:not(html, body), div, dialog, img, video, iframe, button, a, p, h2, progress';
  return `html, body { ${declare(properties.filter((name) => !changesPage.test(name)))} }
    ${elements} { ${declare(properties)} }
    div::before, div::after { content: 'x' !important; display: block !important }`;
}

/** Reads every property of every element of an ad. */
function readStyles(host: Element): Record<string, string> {
  const pseudoElements = ['::before', '::after'].map((name): [string, string] => [
    `host${name}`,
    getComputedStyle(host, name).content,
  ]);
  const elements = [host, ...host.children, ...(host.shadowRoot?.querySelectorAll('*') ?? [])];
  const entries = elements.flatMap((element, index) => {
    const style = getComputedStyle(element);
    return properties.map(
      (name) => [`${index} ${element.localName} ${name}`, style.getPropertyValue(name)] as const,
    );
  });
  return Object.fromEntries([...entries, ...pseudoElements]);
}

const finishAnimations = (host: Element): void =>
  host.shadowRoot?.getAnimations().forEach((animation) => animation.finish());

const sheet = new CSSStyleSheet();
let end = (): void => {};

beforeEach(async () => {
  await page.viewport(640, 480);
  sheet.replaceSync('');
  document.adoptedStyleSheets = [sheet];
});
afterEach(() => {
  document.adoptedStyleSheets = [];
  end();
});

/** Returns the properties that the page's styles change. */
function findLeaks(host: Element): string[] {
  finishAnimations(host);
  const expected = readStyles(host);
  const leaks = new Set<string>();
  for (let round = 0; round < rounds; round += 1) {
    sheet.replaceSync(pageStyles(round));
    finishAnimations(host);
    for (const [name, value] of Object.entries(readStyles(host)))
      if (value !== expected[name]) leaks.add(`${name}: ${value} instead of ${expected[name]}`);
  }
  sheet.replaceSync('');
  return [...leaks];
}

describe.each(Object.keys(kinds))('No style of the page reaches', (kind) => {
  const media = kinds[kind] as (typeof kinds)['image'] & object;

  it(`an ad with ${kind}`, async () => {
    const fixture = await openInState(media, 'en');
    end = fixture.end;
    fixture.overlay.allowClose();
    fixture.overlay.setClosePrompt(true);
    const host = fixture.root?.host as Element;
    expect(findLeaks(host)).toEqual([]);
  });

  it(`a banner with ${kind}`, async () => {
    const slot = document.createElement('section');
    // Absolute positions and sizes, so that the page's own layout stays the same.
    slot.style.cssText =
      'all: initial !important; position: fixed !important; width: 320px !important';
    document.body.replaceChildren(slot);
    const { signal } = new AbortController();
    const creative = await loadCreative(decide(media), { clock: systemClock, signal });
    const noop = () => {};
    const hooks = { painted: noop, viewed: noop, unseen: noop, clicked: noop, failed: noop };
    end = mountBanner(slot, creative, { clock: systemClock, hooks });
    expect(findLeaks(slot.firstElementChild as Element)).toEqual([]);
  });
});

it('an ad is as large as usual in a page that is zoomed', async () => {
  const measure = async (css: string) => {
    sheet.replaceSync(css);
    const fixture = await openInState(kinds['image'] as never, 'en');
    end = fixture.end;
    fixture.overlay.allowClose();
    finishAnimations(fixture.root?.host as Element);
    const parts = ['dialog', '.close', '.title', 'footer a'].map((name) =>
      fixture.findVisible(name),
    );
    const sizes = [...parts, document.querySelector('img')].map((part) => {
      const { width, height } = part?.getBoundingClientRect() ?? new DOMRect();
      return [Math.round(width), Math.round(height)];
    });
    fixture.end();
    return sizes;
  };
  const expected = await measure('');
  expect(await measure('body { zoom: 0.5 }')).toEqual(expected);
  expect(await measure('html { zoom: 2 } body { zoom: 50% }')).toEqual(expected);
  expect(await measure('html { zoom: 0.8 } body { zoom: 0.8 }')).toEqual(expected);
});

it('a preloaded HTML ad stays invisible', async () => {
  document.body.replaceChildren();
  const { signal } = new AbortController();
  const creative = await loadCreative(decide(kinds['html'] as never), {
    clock: systemClock,
    signal,
  });
  end = creative.destroy;
  for (let round = 0; round < rounds; round += 1) {
    sheet.replaceSync(
      `${pageStyles(round)} * { display: flex !important; visibility: visible !important }`,
    );
    expect(creative.element.getClientRects()).toHaveLength(0);
  }
});
