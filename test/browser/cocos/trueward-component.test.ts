import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import {
  type CocosAdsOptions,
  createTruewardComponent,
  type TruewardComponent,
} from '../../../src/cocos/cocos-ads.ts';
import type { CompletedSpend } from '../../../src/index.ts';
import type { EarnedReward } from '../../../src/outcome.ts';
import { keyChecksum } from '../../../src/platform/key-format.ts';
import { type CocosEngine, createCocosEngine } from '../../fakes/cocos-engine.ts';

const body = 'pk_sandbox_0123456789_ABCDEFGHIJabcdefghij';
const options: CocosAdsOptions = {
  publishableKey: body + keyChecksum(body),
  // These tests need no response from a service. Connections to this URL are refused immediately.
  serviceUrl: 'http://127.0.0.1:9',
};

let engine: CocosEngine;
let component: (TruewardComponent & { node: object }) | undefined;

beforeEach(() => {
  engine = createCocosEngine();
});

afterEach(() => {
  if (component) call(component, 'onDestroy');
  component = undefined;
});

/** Calls protected methods, as the engine does. */
function call(
  instance: TruewardComponent,
  method: 'onLoad' | 'onEnable' | 'onDisable' | 'onDestroy',
): void {
  (instance as unknown as Record<typeof method, () => void>)[method]();
}

function createGameAds(initialOptions: CocosAdsOptions) {
  class GameAds extends createTruewardComponent(engine) {
    received: EarnedReward[] = [];
    override adsOptions(): CocosAdsOptions {
      return initialOptions;
    }
    override onReward(reward: EarnedReward): void {
      this.received.push(reward);
    }
  }
  const gameComponent = new GameAds();
  component = gameComponent;
  return gameComponent;
}

test('the component survives a scene change', () => {
  const component = createGameAds(options);
  call(component, 'onLoad');
  expect(engine.persistent).toEqual([component.node]);
});

test('`ads` is available before the component loads, and stays the same object', () => {
  const component = createGameAds(options);
  const { ads } = component;
  call(component, 'onLoad');
  expect(component.ads).toBe(ads);
});

test('the component receives rewards only while it is enabled', () => {
  const component = createGameAds(options);
  const stop = vi.fn();
  const listen = vi.spyOn(component.ads, 'on').mockReturnValue(stop);
  call(component, 'onLoad');
  expect(listen).not.toHaveBeenCalled();

  call(component, 'onEnable');
  const [event, handler] = listen.mock.calls[0] ?? [];
  const reward = { decisionId: 'dec_1', placement: 'revive', reward: { type: 'coin', amount: 5 } };
  (handler as (reward: EarnedReward) => void)(reward);
  expect(event).toBe('reward');
  expect(component.received).toEqual([reward]);

  call(component, 'onDisable');
  expect(stop).toHaveBeenCalledOnce();
});

test('the component hands out what was bought only while it is enabled', () => {
  const bought: string[] = [];
  class Shop extends createTruewardComponent(engine) {
    override adsOptions = () => options;
    override onSpend({ id }: CompletedSpend): void {
      bought.push(id);
    }
  }
  const shop = (component = new Shop());
  const stop = vi.fn();
  const listen = vi.spyOn(shop.ads, 'on').mockReturnValue(stop);
  call(shop, 'onEnable');
  const [event, handler] = listen.mock.calls[0] ?? [];
  (handler as (spend: CompletedSpend) => void)({ id: 'red-hat', type: 'gems', amount: 5 });
  expect([event, bought, listen.mock.calls.length]).toEqual(['spend', ['red-hat'], 1]);
  call(shop, 'onDisable');
  expect(stop).toHaveBeenCalledOnce();
});

test('a component without onReward does not receive rewards', () => {
  const plainComponent = new (createTruewardComponent(engine))();
  plainComponent.adsOptions = () => options;
  component = plainComponent;
  const listen = vi.spyOn(plainComponent.ads, 'on');
  call(plainComponent, 'onLoad');
  call(plainComponent, 'onEnable');
  expect(listen).not.toHaveBeenCalled();
});

test('destroying the component destroys its ads', async () => {
  const component = createGameAds(options);
  call(component, 'onLoad');
  call(component, 'onDestroy');
  expect(await component.ads.showRewarded('revive')).toMatchObject({ outcome: 'aborted' });
});

test('invalid options are reported once and disable only ads', async () => {
  const report = vi.spyOn(globalThis, 'reportError').mockImplementation(() => {});
  const component = createGameAds({ ...options, publishableKey: 'sk_sandbox_x' });
  call(component, 'onLoad');
  call(component, 'onEnable');
  expect(report).toHaveBeenCalledOnce();
  expect(await component.ads.showRewarded('revive')).toEqual({
    outcome: 'error',
    reason: 'secret_key_in_browser',
  });
});

test('the error says that options are missing', async () => {
  vi.spyOn(globalThis, 'reportError').mockImplementation(() => {});
  component = new (createTruewardComponent(engine))();
  call(component, 'onLoad');
  expect(await component.ads.showRewarded('revive')).toMatchObject({ reason: 'option_missing' });
});
