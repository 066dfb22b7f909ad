import type { OverlayStrings } from '../strings.ts';

export const strings: OverlayStrings = {
  language: 'id',
  direction: 'ltr',
  advertisement: 'Iklan',
  watchFor: 'Tonton untuk mendapat {reward}',
  secondsLeft: '{seconds} dtk',
  rewardOnItsWay: 'Hadiahmu sedang dikirim',
  close: 'Tutup iklan',
  mute: 'Matikan suara',
  unmute: 'Nyalakan suara',
  play: 'Ketuk untuk memutar',
  learnMore: 'Pelajari lebih lanjut',
  askTitle: 'Tutup dan kehilangan hadiah?',
  askText: 'Tinggal {seconds} dtk lagi.',
  keepWatching: 'Lanjut menonton',
  closeAnyway: 'Tetap tutup',
  thanks: 'Terima kasih sudah menonton',
};
