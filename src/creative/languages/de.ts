import type { OverlayStrings } from '../strings.ts';

export const strings: OverlayStrings = {
  language: 'de',
  direction: 'ltr',
  advertisement: 'Werbung',
  watchFor: 'Ansehen und {reward} erhalten',
  secondsLeft: '{seconds} s',
  rewardOnItsWay: 'Deine Belohnung ist unterwegs',
  close: 'Werbung schließen',
  mute: 'Ton ausschalten',
  unmute: 'Ton einschalten',
  play: 'Zum Abspielen tippen',
  learnMore: 'Mehr erfahren',
  askTitle: 'Schließen und die Belohnung verlieren?',
  askText: 'Nur noch {seconds} s.',
  keepWatching: 'Weiter ansehen',
  closeAnyway: 'Trotzdem schließen',
  thanks: 'Danke fürs Ansehen',
};
