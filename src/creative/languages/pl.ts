import type { OverlayStrings } from '../strings.ts';

export const strings: OverlayStrings = {
  language: 'pl',
  direction: 'ltr',
  advertisement: 'Reklama',
  watchFor: 'Obejrzyj, aby otrzymać {reward}',
  secondsLeft: '{seconds} s',
  rewardOnItsWay: 'Twoja nagroda jest w drodze',
  close: 'Zamknij reklamę',
  mute: 'Wyłącz dźwięk',
  unmute: 'Włącz dźwięk',
  play: 'Dotknij, aby odtworzyć',
  learnMore: 'Dowiedz się więcej',
  askTitle: 'Zamknąć i stracić nagrodę?',
  askText: 'Zostało tylko {seconds} s.',
  keepWatching: 'Oglądaj dalej',
  closeAnyway: 'Zamknij mimo to',
  thanks: 'Dziękujemy za obejrzenie',
};
