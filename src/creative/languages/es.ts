import type { OverlayStrings } from '../strings.ts';

export const strings: OverlayStrings = {
  language: 'es',
  direction: 'ltr',
  advertisement: 'Publicidad',
  watchFor: 'Mira el anuncio y consigue {reward}',
  secondsLeft: '{seconds} s',
  rewardOnItsWay: 'Tu recompensa está en camino',
  close: 'Cerrar anuncio',
  mute: 'Quitar el sonido',
  unmute: 'Activar el sonido',
  play: 'Toca para reproducir',
  learnMore: 'Más información',
  askTitle: '¿Cerrar y perder la recompensa?',
  askText: 'Solo quedan {seconds} s.',
  keepWatching: 'Seguir viendo',
  closeAnyway: 'Cerrar de todos modos',
  thanks: 'Gracias por verlo',
};
