import { afterEach, beforeEach, describe, expect, inject, it } from 'vitest';
import { page } from 'vitest/browser';
import { addStyles } from '../ad-break/hostile-page.ts';
import { kinds, openInState } from './overlay-set.ts';

// Shows ads in pages with the element rules of CSS frameworks and themes. PAGE_STYLES is a folder with stylesheets of
// real ones, which aren't part of this repository.

/** The kinds of rules that frameworks and themes have for all elements, written for this test. */
const ownStyles: Record<string, string> = {
  'a reset': `
    *, ::before, ::after, ::backdrop { box-sizing: border-box; margin: 0; padding: 0; border: 0 solid; }
    :root { font: 100%/1.5 monospace; tab-size: 4; -webkit-tap-highlight-color: transparent; }
    h1, h2, h3 { font: inherit } a { color: inherit; text-decoration: inherit }
    img, svg, video, canvas, iframe, object { display: block; vertical-align: middle; max-width: 100%; height: auto }
    button, input, progress { font: inherit; color: inherit; border-radius: 0; background: none; appearance: button }
    [hidden] { display: none !important }`,
  'a component framework': `
    html { font-size: 62.5%; scroll-behavior: smooth } body { font-size: 1.8rem; text-align: start }
    p { margin: 0 0 3rem } h2 { margin-bottom: 1rem; font-size: calc(3rem + 2vw); text-transform: uppercase }
    a { color: #06c; text-decoration: underline } a:hover { opacity: .5 } dialog { width: 50%; max-width: 20rem }
    button:focus:not(:focus-visible) { outline: 0 } progress { height: 3rem; vertical-align: baseline }
    img { padding: 1rem; border: 1px solid; border-radius: 9px; max-width: 50%; opacity: .3; transition: opacity 9s }`,
  'a theme': `
    body > *, body > div { max-width: 240px !important; margin-inline: auto !important; padding: 40px !important }
    body > * + * { margin-block-start: 4rem } body > :not(.wide) { float: left; position: relative; z-index: 0 }
    :where(div) { container-type: inline-size; display: flow-root } iframe, video { width: 100%; aspect-ratio: 4 / 1 }
    button, a { border: 3px solid; border-radius: 0; padding: 15px 30px; background: #28303d; color: #d1e4dd }
    button:not(:hover):not(:active) { background: red; filter: invert(1) } :focus { outline: 9px dotted !important }
    div::before, div::after { content: ''; display: table; clear: both } svg { fill: red; width: 99px }`,
};

const finishAnimations = (root: ShadowRoot): void =>
  root.getAnimations().forEach((animation) => animation.finish());

/** Reads where each element of the ad is, and its computed styles. */
function readLook(root: ShadowRoot): Map<string, string> {
  finishAnimations(root);
  const elements = [root.host, ...root.host.children, ...root.querySelectorAll('*')];
  const entries = elements.flatMap((element, index) => {
    const { x, y, width, height } = element.getBoundingClientRect();
    const style = getComputedStyle(element);
    const describe = (name: string) => `${index} ${element.localName} ${name}`;
    return [
      [describe('place'), [x, y, width, height].join()] as const,
      // The page's custom properties reach everything, and change nothing that doesn't use them.
      ...Array.from(style)
        .filter((name) => !name.startsWith('--'))
        .map((name) => [describe(name), style.getPropertyValue(name)] as const),
    ];
  });
  return new Map(entries);
}

let end = (): void => {};
beforeEach(() => page.viewport(640, 480));
afterEach(() => end());

describe.each(Object.entries({ ...ownStyles, ...inject('pageStyles') }))(
  'In a page with the styles of %s',
  (_, css) => {
    it.each(Object.keys(kinds))('an ad with %s looks as usual', async (kind) => {
      const fixture = await openInState(kinds[kind] as never, 'en');
      fixture.overlay.allowClose();
      fixture.overlay.setMuted(true);
      fixture.overlay.setClosePrompt(true);
      const root = fixture.root as ShadowRoot;
      // An animation that has ended still counts, so none may start while the styles change.
      const expected = readLook(root);
      const remove = addStyles(css);
      end = () => {
        remove();
        fixture.end();
      };
      const changes = Array.from(readLook(root))
        .filter(([name, value]) => value !== expected.get(name))
        .map(([name, value]) => `${name}: ${value} instead of ${expected.get(name)}`);
      expect(changes).toEqual([]);
    });
  },
);
