import type { ShowResult } from 'trueward';
import type { TruewardPlugin } from 'trueward/phaser';
import type { LanternRun } from './game/lantern-run.ts';
import { describeReward, outcomeText } from './outcome-text.ts';
import { readSetting, writeSetting } from './settings.ts';
import { element, write } from './ui/element.ts';
import { createOffer, type Offer } from './ui/offer.ts';
import type { Shop } from './shop.ts';
import type { Strip } from './ui/strip.ts';

const toastMs = 4_000;

/** Takes the player from screen to screen (lobby, run, game over) and shows ads along the way. */
export interface Flow {
  showLobby(): void;
  gameOver(sparks: number): void;
  /** Says that a placement's reward has arrived. */
  confirm(placement: string, text: string): void;
  showToast(text: string): void;
  refreshOffers(): void;
}

export function createFlow(run: LanternRun, ads: TruewardPlugin, strip: Strip, shop: Shop): Flow {
  const lobby = element('lobby', HTMLElement);
  const gameOverScreen = element('over', HTMLElement);
  const play = element('play', HTMLButtonElement);
  const again = element('again', HTMLButtonElement);
  const toast = element('toast', HTMLElement);
  let banner: { remove(): void } | undefined;
  let toastTimer = 0;
  let gameOverCount = 0;
  let revived = false;
  let leaving = false;

  const showToast = (text: string) => {
    toast.textContent = text;
    clearTimeout(toastTimer);
    toastTimer = window.setTimeout(() => (toast.textContent = ''), toastMs);
  };
  const report = (placement: string, result: ShowResult) => {
    strip.showOutcome(`${placement}: ${result.outcome}`);
    showToast(outcomeText(result, Date.now()));
  };
  const wasWatched = ({ outcome }: ShowResult) => outcome === 'rewarded' || outcome === 'pending';

  const revive = createOffer('revive', 'revive', ads, (result) => {
    report('revive', result);
    if (!wasWatched(result)) return revive.open();
    revived = true;
    closeScreens();
    run.revive();
    ads.portal?.gameplayStart();
  });
  const double = createOffer('double', 'double-coins', ads, (result) => {
    report('double-coins', result);
    if (wasWatched(result)) double.close(rewardNote(result));
    else double.open();
  });

  // An ad network fills this placement. In the demo, that is the sandbox's built-in test source.
  const treasure = createOffer('treasure', 'treasure', ads, (result) => {
    report('treasure', result);
    if (wasWatched(result)) treasure.close(rewardNote(result));
    else treasure.open();
  });

  /** The offers that stay on the screen after their ad. */
  const staying: Record<string, Offer> = { 'double-coins': double, treasure };

  function closeScreens(): void {
    banner?.remove();
    banner = undefined;
    lobby.hidden = gameOverScreen.hidden = true;
    revive.close();
    double.close();
    treasure.close();
    shop.close();
    // From here on, the keyboard controls the game, so Space must not press the focused button.
    if (document.activeElement instanceof HTMLElement) document.activeElement.blur();
  }

  /** Leaves the game-over screen. After every second run, shows an ad first. */
  async function leave(next: () => void): Promise<void> {
    if (leaving) return;
    leaving = true;
    if (gameOverCount % 2 === 0) {
      const result = await ads.showInterstitial('level-end');
      strip.showOutcome(`level-end: ${result.outcome}`);
    }
    leaving = false;
    next();
  }

  function startRun(): void {
    closeScreens();
    revived = false;
    run.play();
    ads.portal?.gameplayStart();
  }

  function showLobby(): void {
    closeScreens();
    run.showIdle();
    write('#best', readSetting('best') ?? '0');
    lobby.hidden = false;
    banner = ads.mountBanner('lobby', element('banner', HTMLElement));
    treasure.open();
    play.focus({ preventScroll: true });
  }

  play.addEventListener('click', startRun);
  again.addEventListener('click', () => void leave(startRun));
  element('shop-open', HTMLButtonElement).addEventListener('click', () => {
    closeScreens();
    shop.open();
  });
  element('shop-close', HTMLButtonElement).addEventListener('click', showLobby);
  element('home', HTMLButtonElement).addEventListener('click', () => void leave(showLobby));

  return {
    showLobby,
    gameOver(sparks) {
      ads.portal?.gameplayStop();
      gameOverCount += 1;
      const isRecord = sparks > Number(readSetting('best') ?? 0);
      if (isRecord) writeSetting('best', String(sparks));
      element('record', HTMLElement).hidden = !isRecord;
      write('#score', sparks);
      write('#score-unit', sparks === 1 ? 'spark' : 'sparks');
      gameOverScreen.hidden = false;
      if (revived) revive.close('Once per run');
      else revive.open();
      double.open();
      if (gameOverCount % 2 === 0) void ads.preload('level-end');
      again.focus({ preventScroll: true });
    },
    confirm(placement, text) {
      staying[placement]?.confirm(text);
      showToast(text);
    },
    showToast,
    refreshOffers() {
      for (const offer of [revive, double, treasure]) offer.refresh();
    },
  };
}

/** Says below an offer what became of its reward. */
const rewardNote = ({ outcome, reward }: ShowResult): string =>
  outcome === 'rewarded' && reward
    ? `Confirmed: ${describeReward(reward)}`
    : 'Coins are on their way';
