import type { OverlayStrings } from '../strings.ts';

export const strings: OverlayStrings = {
  language: 'fr',
  direction: 'ltr',
  advertisement: 'Publicité',
  watchFor: 'Regardez pour obtenir {reward}',
  secondsLeft: '{seconds} s',
  rewardOnItsWay: 'Votre récompense arrive',
  close: 'Fermer la publicité',
  mute: 'Couper le son',
  unmute: 'Activer le son',
  play: 'Touchez pour lire',
  learnMore: 'En savoir plus',
  askTitle: 'Fermer et perdre la récompense ?',
  askText: 'Plus que {seconds} s.',
  keepWatching: 'Continuer à regarder',
  closeAnyway: 'Fermer quand même',
  thanks: 'Merci d’avoir regardé',
};
