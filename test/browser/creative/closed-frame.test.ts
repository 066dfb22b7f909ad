import { afterEach, expect, it } from 'vitest';
import { loadCreative } from '../../../src/creative/load-creative.ts';
import type { LoadedCreative } from '../../../src/creative/renderer.ts';
import { systemClock } from '../../../src/platform/clock.ts';
import { eventually } from '../../support/eventually.ts';
import { decide, html } from '../ad-break/stage-set.ts';

const elsewhere = new URL('/test/browser/creative/elsewhere.html', location.href).href;
/** Ways in which a page leaves for another. */
const exits: [name: string, script: string][] = [
  ['a new address', `location.href = '${elsewhere}'`],
  ['another document', `location.replace('data:text/html,<p>')`],
  [
    'a link',
    `document.body.appendChild(Object.assign(document.createElement('a'), { href: '${elsewhere}' })).click()`,
  ],
  [
    'a refresh',
    `document.head.append(Object.assign(document.createElement('meta'), { httpEquiv: 'refresh', content: '0;url=${elsewhere}' }))`,
  ],
];

const requested = () =>
  performance.getEntriesByName(elsewhere).length +
  [...document.querySelectorAll('iframe')].flatMap(
    (frame) => frame.contentWindow?.performance.getEntriesByName(elsewhere) ?? [],
  ).length;

let creative: LoadedCreative | undefined;
afterEach(() => creative?.destroy());

const load = (script: string): Promise<LoadedCreative> => {
  const { signal } = new AbortController();
  return loadCreative(decide(html(script)), { clock: systemClock, signal });
};

it.each(exits)('a creative that leaves by %s while it loads is not shown', async (_, script) => {
  await expect(load(script)).rejects.toThrow('creative_navigated');
  expect(requested()).toBe(0);
});

it.each(exits)('a creative that leaves by %s while it is shown ends', async (_, script) => {
  creative = await load(
    `port.onmessage = ({ data }) => { if (data.type === 'viewable') { ${script} } };
     port.postMessage({ type: 'ready' })`,
  );
  const failures: string[] = [];
  creative.start((event) => event.type === 'failed' && failures.push(event.reason));
  await eventually(() => expect(failures).toEqual(['creative_navigated']));
  expect(requested()).toBe(0);
});

// A form needs a permission that the frame doesn't have.
it('a creative that sends a form stays', async () => {
  creative = await load(
    `const form = document.body.appendChild(document.createElement('form'));
     form.action = '${elsewhere}';
     form.submit();
     port.postMessage({ type: 'ready' })`,
  );
  expect(requested()).toBe(0);
});
