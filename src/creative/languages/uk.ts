import type { OverlayStrings } from '../strings.ts';

export const strings: OverlayStrings = {
  language: 'uk',
  direction: 'ltr',
  advertisement: 'Реклама',
  watchFor: 'Перегляньте й отримайте {reward}',
  secondsLeft: '{seconds} с',
  rewardOnItsWay: 'Ваша нагорода вже в дорозі',
  close: 'Закрити рекламу',
  mute: 'Вимкнути звук',
  unmute: 'Увімкнути звук',
  play: 'Натисніть для відтворення',
  learnMore: 'Докладніше',
  askTitle: 'Закрити й втратити нагороду?',
  askText: 'Залишилося лише {seconds} с.',
  keepWatching: 'Дивитися далі',
  closeAnyway: 'Усе одно закрити',
  thanks: 'Дякуємо за перегляд',
};
