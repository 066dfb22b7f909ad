import type { OverlayStrings } from '../strings.ts';

export const strings: OverlayStrings = {
  language: 'it',
  direction: 'ltr',
  advertisement: 'Pubblicità',
  watchFor: 'Guarda per ottenere {reward}',
  secondsLeft: '{seconds} s',
  rewardOnItsWay: 'La tua ricompensa è in arrivo',
  close: 'Chiudi annuncio',
  mute: 'Disattiva l’audio',
  unmute: 'Attiva l’audio',
  play: 'Tocca per riprodurre',
  learnMore: 'Scopri di più',
  askTitle: 'Chiudere e perdere la ricompensa?',
  askText: 'Mancano solo {seconds} s.',
  keepWatching: 'Continua a guardare',
  closeAnyway: 'Chiudi comunque',
  thanks: 'Grazie per aver guardato',
};
