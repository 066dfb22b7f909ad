import { expect, test, vi } from 'vitest';
import { createFakeAds } from '../ad-placement/fake-ads.ts';
import { findRunnableBlock } from './code-blocks.ts';

const page = 'docs/migration.md';
/** Runs a block as a reader would, and returns the function that the block declares. */
async function evaluateBlock(block: string, name: string): Promise<unknown> {
  const code = `${findRunnableBlock(page, block)}\nexport { ${name} as it };`;
  const url = `data:text/javascript,${encodeURIComponent(code)}`;
  return ((await import(/* @vite-ignore */ url)) as { it: unknown }).it;
}

type PokiBreaks = (ads: object) => {
  rewardedBreak(options?: { onStart(): void }): Promise<boolean>;
  commercialBreak(onStart?: () => void): Promise<void>;
};
type RequestAd = (
  ads: object,
  type: 'rewarded' | 'midgame',
  callbacks: Record<'adStarted' | 'adFinished' | 'adError', (error?: unknown) => void>,
) => Promise<void>;

test('the Poki replacements resolve like the Poki SDK’s functions', async () => {
  const ads = createFakeAds([]);
  const breaks = ((await evaluateBlock('poki', 'pokiBreaks')) as PokiBreaks)(ads);
  const onStart = vi.fn();
  for (const [outcome, isRewarded] of [
    ['rewarded', true],
    ['pending', true],
    ['dismissed', false],
  ] as const) {
    ads.nextAd = { outcome, opens: true };
    expect(await breaks.rewardedBreak({ onStart })).toBe(isRewarded);
  }
  expect(onStart).toHaveBeenCalledTimes(3);
  ads.nextAd = { outcome: 'no_fill', opens: false };
  expect(await breaks.rewardedBreak()).toBe(false);
  await breaks.commercialBreak(onStart);
  expect(onStart).toHaveBeenCalledTimes(3);
});

test('the CrazyGames requestAd() calls its callbacks once, with CrazyGames error codes', async () => {
  const ads = createFakeAds([]);
  const requestAd = (await evaluateBlock('crazygames', 'requestAd')) as RequestAd;
  const calls: unknown[] = [];
  const callbacks = {
    adStarted: () => calls.push('started'),
    adFinished: () => calls.push('finished'),
    adError: (error: unknown) => calls.push(error),
  };
  ads.nextAd = { outcome: 'rewarded', opens: true };
  await requestAd(ads, 'rewarded', callbacks);
  ads.nextAd = { outcome: 'completed', opens: true };
  await requestAd(ads, 'midgame', callbacks);
  ads.nextAd = { outcome: 'ad_blocked', opens: false };
  await requestAd(ads, 'rewarded', callbacks);
  ads.nextAd = { outcome: 'dismissed', opens: true };
  await requestAd(ads, 'rewarded', callbacks);
  expect(calls).toEqual([
    'started',
    'finished',
    'started',
    'finished',
    { code: 'adblock', message: 'ad_blocked' },
    'started',
    { code: 'other', message: 'dismissed' },
  ]);
});
