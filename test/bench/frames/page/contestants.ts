import type * as Phaser from 'phaser';

declare global {
  /** The peer's plugin, as its own source exports it. */
  var Peer: { PokiPlugin: typeof Phaser.Plugins.BasePlugin };
}

/** Puts a contestant into a game. The function that it returns takes it in (`true`) and out of frames. */
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

/** The same key for the page that fills the storage and the one that empties it. */
const body = 'pk_sandbox_0123456789ABCDEFGHIJabcdefghij';

export { options as adsOptions };

/** Who is measured. All but ours and the peer are written for this measurement; nobody's code is copied. */
export const contestants = {
  /** The game alone: how much two halves of the same differ. */
  nothing: () => () => {},
  /** The plugin in a game in which no reward waits: it listens to no frame. */
  trueward(game) {
    Sdk.TruewardPlugin.install(game, options());
    return () => {};
  },
  /** The worst frame of a game that is handed something in each. */
  truewardDelivering(game) {
    const queue = Sdk.createFrameQueue(Sdk.phaserDriver(game), Sdk.systemClock);
    return onEachStep(game, function pushOne() {
      queue.push(takeReward);
    });
  },
  /** A listener that is always there and finds nothing to do: the least that polling costs. */
  alwaysAttached(game) {
    const waiting: (() => void)[] = [];
    return onEachStep(game, function deliverWaiting() {
      for (const callback of waiting.splice(0)) callback();
    });
  },
  /**
   * Does each step what the documentation of a published plugin describes: finds out which scenes run,
   * by the names of their classes, to tell the ad platform of loading and of gameplay.
   */
  sceneWatcher(game) {
    let before = '';
    return onEachStep(game, function watchScenes() {
      const names = game.scene.getScenes(true).map(function nameOf(scene) {
        return scene.constructor.name;
      });
      const now = names.join();
      if (now !== before) before = now;
    });
  },
  /** A published plugin, where `--peer` said where its source is; its platform is a stub. */
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
