import type { OverlayStrings } from '../strings.ts';

export const strings: OverlayStrings = {
  language: 'ru',
  direction: 'ltr',
  advertisement: 'Реклама',
  watchFor: 'Посмотрите и получите {reward}',
  secondsLeft: '{seconds} с',
  rewardOnItsWay: 'Ваша награда уже в пути',
  close: 'Закрыть рекламу',
  mute: 'Выключить звук',
  unmute: 'Включить звук',
  play: 'Нажмите для воспроизведения',
  learnMore: 'Подробнее',
  askTitle: 'Закрыть и потерять награду?',
  askText: 'Осталось всего {seconds} с.',
  keepWatching: 'Смотреть дальше',
  closeAnyway: 'Всё равно закрыть',
  thanks: 'Спасибо за просмотр',
};
