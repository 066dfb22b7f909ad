import type { OverlayStrings } from '../strings.ts';

export const strings: OverlayStrings = {
  language: 'pt',
  direction: 'ltr',
  advertisement: 'Publicidade',
  watchFor: 'Assista para ganhar {reward}',
  secondsLeft: '{seconds} s',
  rewardOnItsWay: 'Sua recompensa está a caminho',
  close: 'Fechar anúncio',
  mute: 'Desativar o som',
  unmute: 'Ativar o som',
  play: 'Toque para reproduzir',
  learnMore: 'Saiba mais',
  askTitle: 'Fechar e perder a recompensa?',
  askText: 'Faltam só {seconds} s.',
  keepWatching: 'Continuar assistindo',
  closeAnyway: 'Fechar mesmo assim',
  thanks: 'Obrigado por assistir',
};
