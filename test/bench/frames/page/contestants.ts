import type * as Phaser from 'phaser';

declare global {
  /** The peer's plugin, as exported by its source. */
  var Peer: { PokiPlugin: typeof Phaser.Plugins.BasePlugin };
}

/** Adds a contestant to a game. The returned function enables (`true`) and disables it. */
type Attach = (game: Phaser.Game) => (on: boolean) => void;

function onEachStep(game: Phaser.Game, listener: () => void): (on: boolean) => void {
  game.events.on('step', listener);
  return (on) => {
    game.events.off('step', listener);
    if (on) game.events.on('step', listener);
  };
}

const options = () => ({
  publishableKey: `${body}${Sdk.keyChecksum(body)}`,
  serviceUrl: location.origin,
  userRef: 'player-1',
});

/** One key for both the page that fills the storage and the page that drains it. */
const body = 'pk_sandbox_0123456789ABCDEFGHIJabcdefghij';

export { options as adsOptions };

/** The contestants. All but ours and the peer were written for this benchmark. */
export const contestants = {
  /** The game alone: how much two halves of the same run differ. */
  nothing: () => () => {},
  /** The plugin in a game without pending rewards: it has no frame listener. */
  trueward(game) {
    Sdk.TruewardPlugin.install(game, options());
    return () => {};
  },
  /** The worst case: something is delivered in every frame. */
  truewardDelivering(game) {
    const queue = Sdk.createFrameQueue(Sdk.phaserDriver(game), Sdk.systemClock);
    return onEachStep(game, function pushOne() {
      queue.push(takeReward);
    });
  },
  /** A permanent listener with nothing to do: the minimum cost of polling. */
  alwaysAttached(game) {
    const waiting: (() => void)[] = [];
    return onEachStep(game, function deliverWaiting() {
      for (const callback of waiting.splice(0)) callback();
    });
  },
  /**
   * Does the work in each step that a published plugin documents: finds the running scenes by their class names, to
   * report loading and gameplay to the ad platform.
   */
  sceneWatcher(game) {
    let before = '';
    return onEachStep(game, function watchScenes() {
      const names = game.scene.getScenes(true).map(function nameOf(scene) {
        return scene.constructor.name;
      });
      const currentNames = names.join();
      if (currentNames !== before) before = currentNames;
    });
  },
  /** A published plugin, if `--peer` points to its source; its platform is a stub. */
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

export type Contestant = keyof typeof contestants;
