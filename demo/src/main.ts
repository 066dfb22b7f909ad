import { CANVAS, Game, Scale } from 'phaser';
import type { PortalName } from 'trueward';
import { TruewardPlugin } from 'trueward/phaser';
import { fitStage } from './fit-stage.ts';
import { createFlow, type Flow } from './flow.ts';
import { LanternRun, type RunListener } from './game/lantern-run.ts';
import { type GameConfig, loadConfig, watchAccount } from './game-server.ts';
import { describeReward } from './outcome-text.ts';
import { saveOnPortal } from './portal-save.ts';
import { createShop, type Shop } from './shop.ts';
import { createSwitchableNetwork } from './switchable-network.ts';
import { element, write } from './ui/element.ts';
import { createStrip, type Strip } from './ui/strip.ts';

/** How often to refresh the status strip and the countdowns below the offers, in milliseconds. */
const refreshMs = 500;

const parameters = new URLSearchParams(location.search);
const portal = parameters.get('portal');
/** On a portal, the service can't say what an ad earns. */
const portalRewards = {
  revive: { type: 'coins', amount: 25 },
  'double-coins': { type: 'coins', amount: 50 },
  treasure: { type: 'coins', amount: 100 },
};

function startGame(config: GameConfig): void {
  const network = createSwitchableNetwork();
  let flow: Flow | undefined;
  let shop: Shop | undefined;
  const listener: RunListener = {
    ready: () => (flow = connectPage()),
    sparks: (count) => write('#sparks', count),
    over: (sparks) => flow?.gameOver(sparks),
    sparkValue: () => shop?.sparkValue() ?? 1,
  };
  const run = new LanternRun(
    {
      seed: Number(parameters.get('seed') ?? Date.now()),
      speed: Number(parameters.get('speed') ?? 1),
    },
    listener,
  );
  const stage = element('canvas', HTMLElement);
  const game = new Game({
    // The game has only a few small images, so the canvas renderer reaches the full frame rate even without a GPU.
    type: CANVAS,
    parent: stage,
    backgroundColor: '#141233',
    scale: { mode: Scale.NONE, width: 360, height: 480 },
    scene: run,
    banner: false,
    plugins: {
      global: [
        {
          key: 'trueward',
          plugin: TruewardPlugin,
          start: true,
          // There is no player id: the service makes a guest player, who can be linked to a second browser.
          data: {
            publishableKey: config.publishableKey,
            serviceUrl: config.serviceUrl,
            locale: 'en',
            fetch: network.fetch,
            // `?portal=poki` runs the same game as on Poki, with a stand-in for its SDK.
            ...(portal !== null && { portal: portal as PortalName, portalRewards }),
          },
        },
      ],
    },
  });

  function connectPage(): Flow {
    const { gameAds: ads } = run;
    fitStage(game, stage);
    const strip = createStrip(ads, network);
    const newShop = (shop = createShop(run, ads, (text) => newFlow.showToast(text)));
    const newFlow = createFlow(run, ads, strip, newShop);
    ads.on('reward', ({ decisionId, placement, reward }) => {
      strip.recordDelivery(decisionId);
      newFlow.confirm(placement, `Confirmed: ${describeReward(reward)}`);
    });
    if (ads.portal) saveOnPortal(ads);
    else followAccount(config, ads, strip);
    setInterval(() => {
      newFlow.refreshOffers();
      newShop.refresh();
      void strip.refresh();
    }, refreshMs);
    setUpMuteButton(game);
    newFlow.showLobby();
    return newFlow;
  }
}

/** Shows the account of the current player, who becomes another one when this browser is linked. */
function followAccount(config: GameConfig, ads: TruewardPlugin, strip: Strip): void {
  let watched: string | undefined;
  let unwatch = (): void => {};
  const follow = (): void => {
    const player = ads.wallet.playerRef();
    if (player === watched || player === undefined) return;
    unwatch();
    watched = player;
    unwatch = watchAccount(config, player, {
      onAccount: strip.showAccount,
      onConnectionChange: strip.showConnection,
    });
  };
  ads.on('change', follow);
  void ads.wallet.refresh().then(follow);
}

function setUpMuteButton(game: Game): void {
  const button = element('sound', HTMLButtonElement);
  button.addEventListener('click', () => {
    game.sound.mute = !game.sound.mute;
    button.setAttribute('aria-pressed', String(game.sound.mute));
    button.blur();
  });
}

const standIn =
  portal === null
    ? undefined
    : import('./portals/install-portal.ts').then(({ installPortal }) => installPortal(portal));

Promise.all([loadConfig(), standIn]).then(
  ([config]) => startGame(config),
  (error: unknown) => {
    console.error(error);
    write('#toast', 'The game server is not responding. Reload the page to retry.');
  },
);
