import type { OverlayStrings } from '../strings.ts';

export const strings: OverlayStrings = {
  language: 'nl',
  direction: 'ltr',
  advertisement: 'Advertentie',
  watchFor: 'Kijk en krijg {reward}',
  secondsLeft: '{seconds} s',
  rewardOnItsWay: 'Je beloning is onderweg',
  close: 'Advertentie sluiten',
  mute: 'Geluid uitzetten',
  unmute: 'Geluid aanzetten',
  play: 'Tik om af te spelen',
  learnMore: 'Meer informatie',
  askTitle: 'Sluiten en de beloning verliezen?',
  askText: 'Nog maar {seconds} s.',
  keepWatching: 'Verder kijken',
  closeAnyway: 'Toch sluiten',
  thanks: 'Bedankt voor het kijken',
};
