import type { TruewardPlugin } from 'trueward/phaser';
import type { ShowResult } from 'trueward';
import { offerText } from '../outcome-text.ts';
import { element } from './element.ts';

/** A button that offers a rewarded ad. If no ad is available, a note below the button gives the reason. */
export interface Offer {
  /** Enables or re-enables the offer and preloads its ad. */
  open(): void;
  /** Disables the offer, because it was used or its screen has closed. */
  close(note?: string): void;
  /** Replaces the note of an offer that was used and whose screen is still open. */
  confirm(note: string): void;
  refresh(): void;
}

export function createOffer(
  id: string,
  placement: string,
  ads: TruewardPlugin,
  onResult: (result: ShowResult) => void,
): Offer {
  const button = element(id, HTMLButtonElement);
  const note = element(`${id}-note`, HTMLElement);
  let open = false;

  const render = (enabled: boolean, text: string) => {
    button.disabled = !enabled;
    if (note.textContent !== text) note.textContent = text;
  };
  const refresh = () => {
    if (!open) return;
    const availability = ads.availability(placement);
    render(availability.available, offerText(availability, Date.now()));
  };
  button.addEventListener('click', () => {
    open = false;
    render(false, 'Loading…');
    void ads.showRewarded(placement).then(onResult);
  });
  return {
    open() {
      open = true;
      refresh();
      void ads.preload(placement).then(refresh);
    },
    close(text = '') {
      open = false;
      render(false, text);
    },
    confirm(text) {
      if (!open && note.textContent !== '') render(false, text);
    },
    refresh,
  };
}
