import { expect, it } from 'vitest';
import guide from '../../../docs/portal-adapter.md?raw';
import { type Ads, createAds } from '../../../src/index.ts';
import { eventually } from '../../support/eventually.ts';

type On = Record<'onOpen' | 'onReward', () => void> & {
  onClose(finished: boolean): void;
  onNone(why: string): void;
};

it('the adapter in the guide runs, in at most 40 lines', async () => {
  const [, code = ''] = /<!-- tested -->\n\n```ts\n(.*?)```/s.exec(guide) ?? [];
  expect(code.trim().split('\n').length).toBeLessThanOrEqual(40);
  const told: unknown[] = [];
  const listeners: Record<string, (value?: unknown) => void> = {};
  let answer: (on: On) => void = () => undefined;
  Reflect.set(window, 'Arcade', {
    ready: async () => undefined,
    showVideo: (type: string, on: On) => {
      told.push(type);
      answer(on);
    },
    on: (event: string, listener: () => void) => (listeners[event] = listener),
    getToken: async () => 'token',
    language: 'de',
    playing: (isPlaying: boolean) => told.push(isPlaying),
  });
  // oxlint-disable-next-line typescript/no-implied-eval -- The code under test comes from the text of the guide.
  const ads = new Function('createAds', `${code}; return ads`)(createAds) as Ads;
  await eventually(() => expect(ads.canShow('revive')).toBe(true));
  answer = (on) => {
    on.onOpen();
    on.onReward();
    on.onClose(true);
  };
  expect(await ads.showRewarded('revive')).toMatchObject({
    outcome: 'rewarded',
    reward: { type: 'coins', amount: 25 },
  });
  answer = (on) => on.onNone('limit');
  expect(await ads.showInterstitial('level-end')).toMatchObject({
    outcome: 'frequency_capped',
    detail: 'limit',
  });
  listeners['sound']?.(false);
  expect(ads.portal).toMatchObject({ name: 'arcade', language: 'de', muted: true });
  expect(await ads.portal?.playerToken()).toBe('token');
  ads.portal?.gameplayStart();
  await eventually(() => expect(told).toEqual(['reward', 'break', true]));
  ads.destroy();
  Reflect.deleteProperty(window, 'Arcade');
});
