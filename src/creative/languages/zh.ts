import type { OverlayStrings } from '../strings.ts';

export const strings: OverlayStrings = {
  language: 'zh',
  direction: 'ltr',
  advertisement: '广告',
  watchFor: '观看即可获得 {reward}',
  secondsLeft: '{seconds} 秒',
  rewardOnItsWay: '奖励即将送达',
  close: '关闭广告',
  mute: '关闭声音',
  unmute: '打开声音',
  play: '点按播放',
  learnMore: '了解详情',
  askTitle: '要关闭并放弃奖励吗？',
  askText: '只剩 {seconds} 秒。',
  keepWatching: '继续观看',
  closeAnyway: '仍要关闭',
  thanks: '感谢观看',
};
