import { afterEach, expect, it } from 'vitest';
import { createAds } from '../../../src/index.ts';
import { createPublishableKey, picture, createStubService } from '../../support/stub-service.ts';
import { eventually } from '../../support/eventually.ts';

const panel = () => document.querySelector<HTMLElement>('[data-trueward="debug"]');
const text = () => panel()?.shadowRoot?.querySelector('details')?.textContent ?? '';

function start() {
  const service = createStubService();
  const ads = createAds({
    publishableKey: createPublishableKey(),
    serviceUrl: 'https://ads.test',
    userRef: 'player-1',
    fetch: service.fetch,
  });
  return { ads, service };
}

afterEach(() => history.replaceState(null, '', location.pathname));

it('shows the last ad break, the requests, the queue and the rewards', async () => {
  const { ads, service } = start();
  service.respond = ({ placement }) =>
    placement === 'revive'
      ? picture(200)
      : {
          status: 'no_fill',
          reason: 'no_candidates',
          explain: [{ creative_id: 'crv_one', reason: 'not_approved' }] as never,
        };
  await ads.showRewarded('revive');
  await ads.showRewarded('double-coins');
  ads.toggleDebugPanel();
  await eventually(() => expect(text()).toContain('no_candidates'));
  expect(text()).toContain('not_approved');
  expect(text()).toContain('double-coins');
  // The panel shows the last ad break, which is the one without an ad.
  expect(text()).toMatch(/begin.*no_fill/);
  await ads.showRewarded('revive');
  // The ad break did not wait for storage. Its steps and the stored events may appear in any order.
  for (const step of ['begin', 'open', 'start', 'complete', 'released', 'rewarded'])
    await eventually(() => expect(text()).toContain(`ms${step}`));
  expect(panel()?.matches(':popover-open')).toBe(true);
  ads.destroy();
  await eventually(() => expect(panel()).toBeNull());
});

it('opens via a URL parameter and leaves nothing on the page when it closes', async () => {
  history.replaceState(null, '', '?trueward-debug');
  const { ads } = start();
  await eventually(() => expect(panel()).not.toBeNull());
  ads.toggleDebugPanel();
  await eventually(() => expect(panel()).toBeNull());
  ads.toggleDebugPanel();
  await eventually(() => expect(panel()).not.toBeNull());
  ads.destroy();
  await eventually(() => expect(panel()).toBeNull());
});
