import type * as Phaser from 'phaser';

declare global {
  /** The peer's plugin, as exported by its source. */
  var Peer: { PokiPlugin: typeof Phaser.Plugins.BasePlugin };
}

/** Adds a contender to a game. The returned function enables (`true`) and disables it. */
type Attach = (game: Phaser.Game) => (on: boolean) => void;

function onEachStep(game: Phaser.Game, listener: () => void): (on: boolean) => void {
  game.events.on('step', listener);
  return (on) => {
    game.events.off('step', listener);
    if (on) game.events.on('step', listener);
  };
}

export const createAdsOptions = () => ({
  publishableKey: `${body}${Sdk.keyChecksum(body)}`,
  serviceUrl: location.origin,
  userRef: 'player-1',
});

/** The page that fills the storage and the page that drains it use the same key. */
const body = 'pk_sandbox_0123456789_ABCDEFGHIJabcdefghij';

/** The contenders. All of them, except the SDK and the peer, were written for this benchmark. */
export const contenders = {
  /** The game alone. This shows the noise floor: how much two identical halves of a run differ. */
  nothing: () => () => {},
  /** The plugin in a game without pending rewards. In this state, it has no frame listener. */
  trueward(game) {
    Sdk.TruewardPlugin.install(game, createAdsOptions());
    return () => {};
  },
  /** The worst case: the plugin delivers something in every frame. */
  truewardDelivering(game) {
    const driver = Sdk.phaserDriver(game);
    return onEachStep(game, function pushOne() {
      Sdk.callInNextFrame(driver, takeReward);
    });
  },
  /** A permanent listener that does nothing. This is the minimum cost of polling. */
  alwaysAttached(game) {
    const pendingCallbacks: (() => void)[] = [];
    return onEachStep(game, function deliverWaiting() {
      for (const callback of pendingCallbacks.splice(0)) callback();
    });
  },
  /**
   * Does what a published plugin does according to its documentation: in each step, it looks up the running scenes' class
   * names, so that it can report loading and gameplay to the ad platform.
   */
  sceneWatcher(game) {
    let previousNames = '';
    return onEachStep(game, function watchScenes() {
      const names = game.scene.getScenes(true).map(function nameOf(scene) {
        return scene.constructor.name;
      });
      const currentNames = names.join();
      if (currentNames !== previousNames) previousNames = currentNames;
    });
  },
  /** A published plugin, if `--peer` is the path to its checkout. Its ad platform is stubbed. */
  peer(game) {
    const { PokiPlugin } = Peer;
    const data = { loadingSceneKey: 'Load', gameplaySceneKey: 'Play', autoCommercialBreak: false };
    const plugin = game.plugins.install(
      'peer',
      PokiPlugin,
      true,
      undefined,
      data,
    ) as Phaser.Plugins.BasePlugin;
    return (on) => {
      plugin.stop();
      if (on) plugin.start();
    };
  },
} satisfies Record<string, Attach>;

function takeReward(): void {}

export type Contender = keyof typeof contenders;
