import type { TruewardPlugin } from 'trueward/phaser';
import { readSetting, writeSetting } from './settings.ts';
import { write } from './ui/element.ts';

/** On a portal, no server keeps what the player earns, so the game saves it in this browser. */
export function saveOnPortal(ads: TruewardPlugin): void {
  for (const part of document.querySelectorAll<HTMLElement>('[data-needs-service]'))
    part.hidden = true;
  /** The amount of each reward, by decision: one that is delivered again is not counted again. */
  const saved = JSON.parse(readSetting('portal-rewards') ?? '{}') as Record<string, number>;
  const showCoins = (): void =>
    write(
      '[data-coins]',
      Object.values(saved).reduce((sum, amount) => sum + amount, 0),
    );
  ads.on('reward', ({ decisionId, reward }) => {
    saved[decisionId] = reward.amount;
    writeSetting('portal-rewards', JSON.stringify(saved));
    showCoins();
  });
  showCoins();
  ads.portal?.loadingFinished();
}
