import type { OverlayStrings } from '../strings.ts';

export const strings: OverlayStrings = {
  language: 'ja',
  direction: 'ltr',
  advertisement: '広告',
  watchFor: '視聴して {reward} を獲得',
  secondsLeft: '{seconds} 秒',
  rewardOnItsWay: '報酬をお届けしています',
  close: '広告を閉じる',
  mute: '音をオフにする',
  unmute: '音をオンにする',
  play: 'タップして再生',
  learnMore: '詳しく見る',
  askTitle: '閉じると報酬を失います。閉じますか？',
  askText: '残り {seconds} 秒です。',
  keepWatching: '視聴を続ける',
  closeAnyway: '閉じる',
  thanks: 'ご視聴ありがとうございます',
};
