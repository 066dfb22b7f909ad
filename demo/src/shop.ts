import type { ShowResult, SpendResult } from 'trueward';
import type { TruewardPlugin } from 'trueward/phaser';
import type { LanternRun } from './game/lantern-run.ts';
import { outcomeText } from './outcome-text.ts';
import { readSetting, writeSetting } from './settings.ts';
import { element, write } from './ui/element.ts';
import { setUpLinking } from './ui/linking.ts';
import { createOffer } from './ui/offer.ts';

const flamePrice = 5;

/** A shop without a server: the ad service keeps the gems and the time for which sparks count double. */
export interface Shop {
  open(): void;
  close(): void;
  refresh(): void;
  /** Returns how many sparks one counts for. */
  sparkValue(): number;
}

const spendTexts: Record<SpendResult['outcome'], string> = {
  spent: 'The blue flame is yours.',
  insufficient: 'You need more gems.',
  pending: 'One moment …',
  offline: 'You are offline.',
  unavailable: 'The shop is closed.',
  error: 'That did not work. Try again.',
};

export function createShop(
  run: LanternRun,
  ads: TruewardPlugin,
  showToast: (text: string) => void,
): Shop {
  const screen = element('shop', HTMLElement);
  const flame = element('flame', HTMLButtonElement);
  let isBuying = false;

  const createShopOffer = (id: string, placement: string) => {
    const offer = createOffer(id, placement, ads, (result: ShowResult) => {
      showToast(outcomeText(result, Date.now()));
      if (!screen.hidden) offer.open();
    });
    return offer;
  };
  const offers = [
    createShopOffer('gems-ad', 'earn-gems'),
    createShopOffer('sparks-ad', 'double-sparks'),
  ];

  /** The ids of the spends that bought the flame. The game keeps what was bought, and the service the gems. */
  const readFlames = (): string[] => (readSetting('flames') ?? '').split(' ').filter(Boolean);
  const ownsFlame = (): boolean => readFlames().length > 0;

  function refresh(): void {
    const gems = ads.wallet.balance('gems');
    write('[data-gems]', gems);
    // Also without enough gems: who has paid in another browser gets it here for nothing.
    flame.disabled = isBuying || ownsFlame();
    write('#flame-note', describeFlame(ownsFlame(), gems));
    write('#sparks-left', describeTimeLeft(ads.wallet.activeUntil('double_sparks')));
    for (const offer of offers) offer.refresh();
  }

  async function buyFlame(): Promise<void> {
    isBuying = true;
    refresh();
    const { outcome } = await ads.wallet.spend('gems', flamePrice, {
      // The flame is paid once, even if the page is reloaded while the answer is on its way.
      id: 'blue-flame',
      reason: 'blue flame',
    });
    isBuying = outcome === 'spent' || outcome === 'pending';
    showToast(spendTexts[outcome]);
    refresh();
  }

  flame.addEventListener('click', () => void buyFlame());
  // Called until it succeeds, also after a crash: this is where the player gets what was bought.
  ads.on('spend', ({ id }) => {
    if (!readFlames().includes(id)) writeSetting('flames', [...readFlames(), id].join(' '));
    isBuying = false;
    run.paintBlue();
    refresh();
  });
  ads.on('change', refresh);
  setUpLinking(ads.wallet, showToast);
  // On a portal, there is no service that could keep anything.
  element('shop-open', HTMLElement).hidden = ads.portal !== undefined;
  if (ownsFlame()) run.paintBlue();

  return {
    open() {
      screen.hidden = false;
      void ads.wallet.refresh();
      for (const offer of offers) offer.open();
      refresh();
      element('shop-close', HTMLButtonElement).focus({ preventScroll: true });
    },
    close() {
      screen.hidden = true;
      for (const offer of offers) offer.close();
    },
    refresh,
    sparkValue: () => (ads.wallet.activeUntil('double_sparks') ? 2 : 1),
  };
}

function describeFlame(isOwned: boolean, gems: number): string {
  if (isOwned) return 'Yours';
  return gems < flamePrice
    ? `${flamePrice} gems: you need ${flamePrice - gems} more`
    : `${flamePrice} gems`;
}

/** Returns the time until then, such as `9:05`. */
function describeTimeLeft(end: Date | undefined): string {
  if (!end) return 'Double sparks last for ten minutes.';
  const seconds = Math.max(0, Math.ceil((end.getTime() - Date.now()) / 1_000));
  const text = `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`;
  return `Sparks count double for ${text}.`;
}
