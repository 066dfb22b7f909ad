import type * as Phaser from 'phaser';
import { afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { TruewardPlugin, type TruewardPluginData } from '../../../src/phaser/index.ts';
import { bootGame, nextStep, phaserVersions } from './phaser-games.ts';

/** These tests need no response from a service. Connections to this URL are refused immediately. */
const serviceUrl = 'http://127.0.0.1:9';

const configWithPlugin = (data: Partial<TruewardPluginData>): Phaser.Types.Core.GameConfig => ({
  plugins: {
    global: [{ key: 'trueward', plugin: TruewardPlugin, start: true, data }],
  },
});

describe.each(phaserVersions)('the plugin in Phaser $version', ({ load }) => {
  let library: typeof Phaser;
  const endGames: (() => Promise<void>)[] = [];

  const boot = async (config?: Phaser.Types.Core.GameConfig) => {
    const running = await bootGame(library, config);
    endGames.push(running.end);
    return running;
  };

  beforeAll(async () => {
    library = await load();
  });

  afterEach(async () => {
    for (const end of endGames.splice(0)) await end();
  });

  it('if the key is a secret key, the error is reported once and the game keeps running', async () => {
    const report = vi.spyOn(globalThis, 'reportError').mockImplementation(() => {});
    const { game, scene } = await boot(
      configWithPlugin({ publishableKey: 'sk_sandbox_x', serviceUrl }),
    );
    expect(report).toHaveBeenCalledOnce();
    expect(String(report.mock.calls[0]?.[0])).toContain('rotate it now');
    expect(scene.ads.availability('revive')).toMatchObject({ available: false, outcome: 'error' });
    expect(await scene.ads.showRewarded('revive')).toEqual({
      outcome: 'error',
      reason: 'secret_key_in_browser',
    });
    expect(await scene.ads.rewards()).toEqual([]);
    expect(await nextStep(game)).toBeGreaterThan(0);
  });

  it('reports that the game’s plugin data is missing', async () => {
    const report = vi.spyOn(globalThis, 'reportError').mockImplementation(() => {});
    const { scene } = await boot({
      plugins: { global: [{ key: 'trueward', plugin: TruewardPlugin, mapping: 'gameAds' }] },
    });
    expect(report).toHaveBeenCalledOnce();
    expect(await scene.ads.showInterstitial('level-end')).toEqual({
      outcome: 'error',
      reason: 'option_missing',
    });
  });

  it('can be installed into two running games, each with its own ads', async () => {
    vi.spyOn(globalThis, 'reportError').mockImplementation(() => {});
    const first = await boot();
    const second = await boot();
    const data = { publishableKey: 'pk_wrong', serviceUrl };
    const firstAds = TruewardPlugin.install(first.game, data);
    TruewardPlugin.install(second.game, data);
    expect(first.scene.gameAds).toBe(firstAds);
    expect(second.scene.gameAds).toBeInstanceOf(TruewardPlugin);
    expect(second.scene.gameAds).not.toBe(firstAds);
    expect(first.game.plugins.get('trueward')).toBe(firstAds);
    first.game.scene.add('later', {}, true);
    expect(first.game.scene.getScene('later').gameAds).toBe(firstAds);
  });

  it('is destroyed together with its game', async () => {
    vi.spyOn(globalThis, 'reportError').mockImplementation(() => {});
    const { scene } = await boot(configWithPlugin({ publishableKey: 'pk_wrong', serviceUrl }));
    const destroy = vi.spyOn(TruewardPlugin.prototype, 'destroy');
    scene.gameAds.destroy();
    for (const end of endGames.splice(0)) await end();
    expect(destroy).toHaveBeenCalledTimes(2);
  });
});
