import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { loadScript } from '../../../src/portal/adapters/load-script.ts';
import { runPendingWork } from '../../support/manual-clock.ts';

// Most portals tell a game to have the tag of their SDK in its page, often as an `async` script.

const url = 'https://portal.example/sdk.js';
const name = 'testPortalSdk';
const findTags = () => Array.from(document.scripts).filter(({ src }) => src.startsWith(url));
const define = (): void => void Object.assign(globalThis, { [name]: { isReady: true } });

/** The page has a tag of its own, whose script has not arrived. Nothing is requested in this test. */
function addTag(src: string): HTMLScriptElement {
  const tag = document.createElement('script');
  tag.type = 'not/executed';
  tag.src = src;
  document.head.append(tag);
  return tag;
}
let readyState: DocumentReadyState;
beforeEach(() => {
  readyState = 'interactive';
  vi.spyOn(document, 'readyState', 'get').mockImplementation(() => readyState);
  // The SDK's own tag requests nothing either.
  vi.spyOn(document.head, 'append').mockImplementation((...nodes) => {
    for (const node of nodes) if (node instanceof HTMLScriptElement) node.type = 'not/executed';
    Element.prototype.append.apply(document.head, nodes);
  });
});
afterEach(() => {
  for (const tag of findTags()) tag.remove();
  Reflect.deleteProperty(globalThis, name);
  vi.restoreAllMocks();
});

it.each([url, `${url}?v=3`, `${url}#game`])(
  'waits for the page’s own tag %s, and loads the SDK once',
  async (src) => {
    const tag = addTag(src);
    const loading = loadScript(url, name);
    await runPendingWork();
    define();
    tag.dispatchEvent(new Event('load'));
    await expect(loading).resolves.toEqual({ isReady: true });
    expect(findTags()).toEqual([tag]);
  },
);

it.each<[string, (tag: HTMLScriptElement) => void]>([
  ['fails', (tag) => void tag.dispatchEvent(new Event('error'))],
  [
    'has been forgotten when the page has loaded',
    () => void window.dispatchEvent(new Event('load')),
  ],
  ['defines nothing', (tag) => void tag.dispatchEvent(new Event('load'))],
])('adds a tag if the page’s own %s', async (_what, end) => {
  const tag = addTag(url);
  const loading = loadScript(url, name);
  await runPendingWork();
  end(tag);
  await runPendingWork();
  expect(findTags()).toHaveLength(2);
  define();
  findTags().at(-1)?.dispatchEvent(new Event('load'));
  await expect(loading).resolves.toEqual({ isReady: true });
});

it.each<[string, string[], DocumentReadyState]>([
  ['has no tag', [], 'interactive'],
  ['has another tag', [`${url}.map`], 'interactive'],
  ['has loaded', [url], 'complete'],
])('adds a tag at once if the page %s', async (_what, tags, state) => {
  readyState = state;
  tags.forEach(addTag);
  const loading = loadScript(url, name);
  await runPendingWork();
  expect(findTags()).toHaveLength(tags.length + 1);
  findTags().at(-1)?.dispatchEvent(new Event('error'));
  await expect(loading).rejects.toThrow(url);
  expect(findTags()).toHaveLength(tags.length);
});
