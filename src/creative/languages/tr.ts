import type { OverlayStrings } from '../strings.ts';

export const strings: OverlayStrings = {
  language: 'tr',
  direction: 'ltr',
  advertisement: 'Reklam',
  watchFor: 'İzle ve {reward} kazan',
  secondsLeft: '{seconds} sn',
  rewardOnItsWay: 'Ödülün yolda',
  close: 'Reklamı kapat',
  mute: 'Sesi kapat',
  unmute: 'Sesi aç',
  play: 'Oynatmak için dokun',
  learnMore: 'Daha fazla bilgi',
  askTitle: 'Kapatıp ödülü kaybetmek istiyor musun?',
  askText: 'Sadece {seconds} sn kaldı.',
  keepWatching: 'İzlemeye devam et',
  closeAnyway: 'Yine de kapat',
  thanks: 'İzlediğin için teşekkürler',
};
