import type { Page } from 'playwright';
import { expect, inject } from 'vitest';
import type { RewardStatus, Source, SourceCallbackSecret } from '../../protocol/wire.ts';
import { createDemand } from '../../service/test/demo-demand.ts';
import { deliveredRewards, getResult, show } from './browser.ts';
import { it } from './worker.ts';

/** Puts a stand-in for Google's H5 ads into the page. Its ads are a button; while `noAd` is set, there is none. */
function installGoogle(): void {
  interface Break {
    type?: string;
    onReady?(): void;
    beforeReward?(show: () => void): void;
    beforeAd?(): void;
    afterAd?(): void;
    adViewed?(): void;
    adBreakDone?(info: { breakStatus: string }): void;
  }
  const push = (entry: Break): void => {
    if (entry.type === undefined) return queueMicrotask(() => entry.onReady?.());
    if ('noAd' in window)
      return queueMicrotask(() => entry.adBreakDone?.({ breakStatus: 'noAdPreloaded' }));
    queueMicrotask(() =>
      entry.beforeReward?.(() => {
        entry.beforeAd?.();
        const ad = Object.assign(document.createElement('button'), { textContent: 'Google’s ad' });
        ad.onclick = () => {
          ad.remove();
          entry.adViewed?.();
          entry.afterAd?.();
          entry.adBreakDone?.({ breakStatus: 'viewed' });
        };
        document.body.append(ad);
      }),
    );
  };
  Object.assign(window, { adsbygoogle: { push } });
}

it.runIf(inject('full'))(
  'Google’s H5 ads on one’s own site take their turn, and the service’s ad follows if there is none',
  async ({ browser, stack }) => {
    const demand = createDemand({ url: stack.serviceUrl, keys: stack.keys });
    await demand.addPlacement('Harbour', {
      name: 'page',
      format: 'rewarded',
      min_view_ms: 1_000,
    });
    await demand.change('placements', 'page', {
      close_after_ms: 0,
      page_rewards: 'client_attested',
    });
    const source = await demand.call<Source>('POST', 'sources', {
      name: 'Google',
      kind: 'page',
      adapter: 'google_h5',
      placements: ['page'],
      priority: 1,
    });
    const context = await browser.newContext({ viewport: { width: 800, height: 600 } });
    const page: Page = await context.newPage();
    await page.addInitScript(installGoogle);
    const requests: (string[] | undefined)[] = [];
    page.on('request', (request) => {
      if (!request.url().endsWith('/v1/decisions')) return;
      const { placement, page_adapters: listed } = request.postDataJSON() as {
        placement: string;
        page_adapters?: string[];
      };
      if (placement === 'page') requests.push(listed);
    });
    await page.goto(`${stack.pageFor('page-ads')}&page-ads=google_h5`);
    const readStatus = async (): Promise<RewardStatus> => {
      const { decisionId } = (await getResult(page)) ?? {};
      return demand.call<RewardStatus>('GET', `decisions/${decisionId}`);
    };
    // Once Google's SDK is ready, requests list it.
    await expect
      .poll(async () => {
        await page.evaluate(() => window.ads.preload('page', { customData: `${Math.random()}` }));
        return requests.at(-1);
      })
      .toEqual(['google_h5']);

    await show(page, 'showRewarded', 'page');
    await page.getByRole('button', { name: 'Google’s ad' }).click();
    expect(await getResult(page)).toMatchObject({
      outcome: 'rewarded',
      evidence: 'client_attested',
    });
    await expect.poll(() => deliveredRewards(page)).toHaveLength(1);
    expect(await readStatus()).toMatchObject({ state: 'earned', evidence: 'client_attested' });

    // If a network's server confirms views, the reward waits for it.
    const { secret = '' } = await demand.call<SourceCallbackSecret>(
      'POST',
      `sources/${source.id}/callback`,
      {},
    );
    await show(page, 'showRewarded', 'page');
    await page.getByRole('button', { name: 'Google’s ad' }).click();
    expect(await getResult(page)).toMatchObject({ outcome: 'pending' });
    expect(await readStatus()).toMatchObject({ state: 'pending', reason: 'awaiting_callback' });
    const { decisionId: waiting = '' } = (await getResult(page)) ?? {};
    const query = new URLSearchParams({ decision_id: waiting, key: secret });
    await fetch(`${stack.serviceUrl}/v1/source-callbacks/${source.id}?${query}`);
    await expect.poll(() => deliveredRewards(page)).toHaveLength(2);
    expect(await readStatus()).toMatchObject({ state: 'earned', evidence: 'source_attested' });

    await page.evaluate(() => void Object.assign(window, { noAd: true }));
    requests.length = 0;
    await show(page, 'showRewarded', 'page');
    await expect.poll(() => deliveredRewards(page)).toHaveLength(3);
    expect(await getResult(page)).toMatchObject({ outcome: 'rewarded' });
    expect(requests).toEqual([['google_h5'], undefined]);
    expect(await readStatus()).toMatchObject({ state: 'earned', evidence: 'verified' });
    // The game server refuses what only the device says.
    const { decisionId } = (await getResult(page)) ?? {};
    const readCredits = async () => (await stack.account('page-ads')).credits;
    await expect.poll(readCredits).toMatchObject([{ decisionId }]);
    await context.close();
  },
);
