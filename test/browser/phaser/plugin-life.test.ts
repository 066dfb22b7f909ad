import type * as Phaser from 'phaser';
import { afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { click } from '../engine/real-input.ts';
import type {} from '../../../src/script-tag/phaser.ts';
import { TruewardPlugin, type TruewardPluginData } from '../../../src/phaser/index.ts';
import {
  createPublishableKey,
  picture,
  createStubService,
  type StubService,
} from '../../support/stub-service.ts';
import { bootGame, nextStep, phaserVersions } from './phaser-games.ts';
import { eventually } from '../../support/eventually.ts';

const serviceUrl = 'https://ads.test';

describe.each(phaserVersions)('In Phaser $version', ({ load }) => {
  let library: typeof Phaser;
  let service: StubService;
  let data: TruewardPluginData;
  const endGames: (() => Promise<void>)[] = [];

  beforeAll(async () => {
    library = await load();
  });

  beforeEach(() => {
    document.body.replaceChildren();
    service = createStubService();
    data = { publishableKey: createPublishableKey(), serviceUrl, fetch: service.fetch };
  });

  afterEach(async () => {
    for (const end of endGames.splice(0)) await end();
  });

  const boot = async (config: Phaser.Types.Core.GameConfig = {}) => {
    const running = await bootGame(library, config);
    endGames.push(running.end);
    return running;
  };
  const configWithPlugins = (): Phaser.Types.Core.GameConfig => ({
    plugins: {
      global: [{ key: 'trueward', plugin: TruewardPlugin, start: true, data }],
    },
  });
  const bootWithPlugin = async () => {
    const running = await boot();
    return { ...running, ads: TruewardPlugin.install(running.game, data) };
  };

  describe('the plugin', () => {
    it('delivers a reward in a game step, before the scene’s update', async () => {
      const { game, scene } = await boot(configWithPlugins());
      const order: string[] = [];
      let inStep = false;
      game.events.on('prestep', () => (inStep = true));
      scene.events.on('update', () => inStep && (inStep = false));
      scene.ads.on('reward', () => void order.push(`reward ${inStep ? 'in a step' : 'elsewhere'}`));
      await scene.ads.showRewarded('revive');
      await eventually(() => expect(order).toEqual(['reward in a step']));
    });

    it('supports contexts, once() and off() for handlers', async () => {
      const { ads } = await bootWithPlugin();
      const log: string[] = [];
      class Listener {
        name = 'context';
        listener(this: Listener) {
          log.push(this.name);
        }
      }
      const listener = new Listener();
      const never = () => log.push('never');
      ads.once('open', listener.listener, listener);
      ads.on('open', never, listener);
      ads.on('open', never);
      ads.off('open', never);
      await ads.showRewarded('revive');
      await ads.showRewarded('revive');
      expect(log).toEqual(['context']);
      ads.on('open', never);
      ads.off('open');
      await ads.showRewarded('revive');
      expect(log).toEqual(['context']);
    });

    it('keeps handlers across stop() and start()', async () => {
      const { game } = await boot();
      const ads = new TruewardPlugin(game.plugins);
      const log: string[] = [];
      ads.on('open', (placement) => log.push(`open ${placement}`));
      ads.on('reward', ({ reward }) => void log.push(`${reward.amount} ${reward.type}`));
      const remove = ads.on('open', () => log.push('never'));
      ads.init(data);
      ads.start();
      remove();
      await ads.showRewarded('revive');
      await eventually(() => expect(log).toEqual(['open revive', '50 coins']));
      ads.stop();
      ads.once('result', (placement, { outcome }) => log.push(`${placement}: ${outcome}`));
      expect((await ads.showRewarded('revive')).outcome).toBe('aborted');
      expect(log.slice(2)).toEqual([]);
      ads.start();
      await ads.showRewarded('revive');
      await eventually(() => expect(log.slice(2)).toHaveLength(3));
      expect(log.slice(2).sort()).toEqual(['50 coins', 'open revive', 'revive: rewarded']);
      ads.destroy();
    });

    it('can be installed into a game that has not booted yet', async () => {
      const game = new library.Game({
        type: library.CANVAS,
        banner: false,
        audio: { noAudio: true },
        scene: { key: 'main' },
      });
      endGames.push(
        () =>
          new Promise((resolve) => {
            game.events.once('destroy', () => resolve());
            game.destroy(true);
          }),
      );
      const ads = TruewardPlugin.install(game, data);
      await nextStep(game);
      expect(game.scene.getScenes(true)[0]?.gameAds).toBe(ads);
      expect((await ads.showRewarded('revive')).outcome).toBe('rewarded');
    });

    it('shows ads in a headless game', async () => {
      const { ads, scene } = await boot({ type: library.HEADLESS }).then((running) => ({
        ...running,
        ads: TruewardPlugin.install(running.game, data),
      }));
      expect(scene.gameAds).toBe(ads);
      expect((await scene.ads.showRewarded('revive')).outcome).toBe('rewarded');
    });

    it('repeated install() calls install it only once', async () => {
      const { ads, game } = await bootWithPlugin();
      expect(TruewardPlugin.install(game, data)).toBe(ads);
      ads.destroy();
      expect((await ads.showRewarded('revive')).outcome).toBe('aborted');
      expect(TruewardPlugin.install(game, data)).toBe(ads);
      expect((await ads.showRewarded('revive')).outcome).toBe('rewarded');
    });

    it.each(['global', 'installed'])(
      'causes no error if the game is destroyed during an ad while a sound plays (%s)',
      async (way) => {
        service.respond = () => picture(60_000);
        const { game, scene, end } = await bootGame(library, {
          audio: {},
          ...(way === 'global' ? configWithPlugins() : {}),
        });
        const ads = way === 'global' ? scene.gameAds : TruewardPlugin.install(game, data);
        const { context } = game.sound as Phaser.Sound.WebAudioSoundManager;
        game.cache.audio.add('tone', context.createBuffer(1, 44_100, 44_100));
        game.sound.add('tone').play({ loop: true });
        await click(game.canvas);
        await eventually(() => expect(context.state).toBe('running'));
        const errors: string[] = [];
        const listener = (event: ErrorEvent | PromiseRejectionEvent) => {
          errors.push('message' in event ? event.message : String(event.reason));
          event.preventDefault();
          event.stopImmediatePropagation();
        };
        window.addEventListener('error', listener, true);
        window.addEventListener('unhandledrejection', listener, true);
        const running = ads.showRewarded('revive');
        await new Promise<void>((resolve) => void ads.on('start', () => resolve()));
        await end();
        expect((await running).outcome).toBe('aborted');
        await new Promise((resolve) => setTimeout(resolve));
        window.removeEventListener('error', listener, true);
        window.removeEventListener('unhandledrejection', listener, true);
        expect(errors).toEqual([]);
        expect(document.body.children).toHaveLength(0);
      },
    );

    it('destroying the game during an ad leaves nothing on the page', async () => {
      service.respond = () => picture(60_000);
      const { ads } = await bootWithPlugin();
      const started = new Promise<void>((resolve) => ads.on('start', () => resolve()));
      const running = ads.showRewarded('revive');
      await started;
      await endGames.pop()?.();
      expect((await running).outcome).toBe('aborted');
      expect(document.body.children).toHaveLength(0);
    });

    it('works in a game that replaces another one during a hot reload', async () => {
      await boot(configWithPlugins());
      await endGames.pop()?.();
      const { scene } = await boot(configWithPlugins());
      expect((await scene.ads.showRewarded('revive')).outcome).toBe('rewarded');
    });

    it('works in a new game if the old game is destroyed later', async () => {
      const first = await bootWithPlugin();
      const ended = endGames.pop()?.();
      const second = await bootWithPlugin();
      await ended;
      expect((await first.ads.showRewarded('revive')).outcome).toBe('aborted');
      expect((await second.ads.showRewarded('revive')).outcome).toBe('rewarded');
    });

    it('survives a scene restart', async () => {
      const { scene } = await boot(configWithPlugins());
      const { ads } = scene;
      scene.scene.restart();
      await new Promise((resolve) => scene.events.once('create', resolve));
      expect(scene.ads).toBe(ads);
      expect((await scene.ads.showRewarded('revive')).outcome).toBe('rewarded');
    });

    it('can be loaded with load.plugin() and receive its data through install()', async () => {
      const { game, scene } = await boot({ scene: [{ key: 'main' }, { key: 'waiting' }] });
      const report = vi.spyOn(globalThis, 'reportError').mockImplementation(() => {});
      const url = '/dist/trueward-phaser.js';
      scene.load.plugin('TruewardPlugin', url, true, 'ads');
      await new Promise((resolve) => {
        scene.load.once('complete', resolve);
        scene.load.start();
      });
      // Phaser starts the plugin without data. The plugin reports the missing data, and the game continues.
      expect(report).toHaveBeenCalledOnce();
      expect(await scene.ads.showRewarded('revive')).toMatchObject({ reason: 'option_missing' });

      const ads = window.TruewardPlugin?.install(game, data);
      expect(ads).toBeInstanceOf(window.TruewardPlugin);
      game.scene.add('later', {}, true);
      for (const key of ['main', 'waiting', 'later'])
        expect(game.scene.getScene(key).gameAds).toBe(ads);
      expect((await scene.ads.showRewarded('revive')).outcome).toBe('rewarded');
    });
  });

  describe('the ads of a scene', () => {
    const restart = async (scene: Phaser.Scene) => {
      scene.scene.restart();
      await new Promise((resolve) => scene.events.once('create', resolve));
    };

    it('removes a scene’s handlers when the scene shuts down', async () => {
      const { scene } = await boot(configWithPlugins());
      const log: string[] = [];
      for (const run of ['first', 'second', 'third']) {
        scene.ads.on('open', () => log.push(run));
        scene.ads.once('close', () => log.push(`${run} is over`));
        await scene.ads.showRewarded('revive');
        if (run !== 'third') await restart(scene);
      }
      expect(log).toEqual(['first', 'second', 'third'].flatMap((run) => [run, `${run} is over`]));
    });

    it('leaves no listener on the scene after an ad or after removing a handler', async () => {
      const { scene } = await boot(configWithPlugins());
      const count = () =>
        scene.events.listenerCount('shutdown') + scene.events.listenerCount('destroy');
      const before = count();
      scene.ads.on('open', () => {})();
      await scene.ads.showRewarded('revive');
      expect(count()).toBe(before);
    });

    it('aborts an ad when its scene shuts down', async () => {
      service.respond = () => picture(60_000);
      const { scene } = await boot(configWithPlugins());
      const started = new Promise<void>((resolve) => scene.ads.on('start', () => resolve()));
      const running = scene.ads.showRewarded('revive');
      await started;
      scene.game.scene.stop('main');
      expect((await running).outcome).toBe('aborted');
    });

    it('is disposed when the game is destroyed without shutting down its scenes', async () => {
      service.respond = () => picture(60_000);
      const { scene } = await boot(configWithPlugins());
      const onSettled = vi.fn();
      const started = new Promise<void>((resolve) => scene.ads.on('start', () => resolve()));
      const running = scene.ads.showRewarded('revive').then(onSettled);
      await started;
      await endGames.pop()?.();
      await running;
      expect(onSettled).toHaveBeenCalledOnce();
    });

    it.each(['ads', 'gameAds', 'myAds'])(
      'end with the scene, with the mapping %s',
      async (mapping) => {
        const plugin = { key: 'trueward', plugin: TruewardPlugin, mapping, start: true, data };
        const { scene } = await boot({ plugins: { global: [plugin] } });
        let coins = 0;
        for (const _ of [1, 2, 3]) {
          scene.ads.on('reward', ({ reward }) => void (coins += reward.amount), scene);
          if (_ < 3) await restart(scene);
        }
        await scene.ads.showRewarded('revive');
        await eventually(() => expect(coins).toBe(50));
        expect(scene.ads).not.toBe(scene.gameAds);
      },
    );

    it('off() removes only the handlers of this scene', async () => {
      const { game, scene } = await boot(configWithPlugins());
      const log: string[] = [];
      game.scene.add('other', {}, true);
      const other = game.scene.getScene('other');
      const onOpen = function (this: Phaser.Scene) {
        log.push(this.sys.settings.key);
      };
      other.ads.on('open', onOpen);
      scene.gameAds.on('open', () => log.push('game'));
      scene.ads.on('open', onOpen);
      scene.ads.off('open', onOpen);
      scene.ads.once('open', onOpen);
      scene.ads.off('open');
      await scene.ads.showRewarded('revive');
      expect(log).toEqual(['other', 'game']);
    });
  });
});
