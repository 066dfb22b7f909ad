import type { OverlayStrings } from '../strings.ts';

export const strings: OverlayStrings = {
  language: 'ko',
  direction: 'ltr',
  advertisement: '광고',
  watchFor: '시청하고 {reward} 받기',
  secondsLeft: '{seconds}초',
  rewardOnItsWay: '보상을 보내는 중입니다',
  close: '광고 닫기',
  mute: '소리 끄기',
  unmute: '소리 켜기',
  play: '탭하여 재생',
  learnMore: '자세히 보기',
  askTitle: '닫고 보상을 포기할까요?',
  askText: '{seconds}초만 더 보면 됩니다.',
  keepWatching: '계속 보기',
  closeAnyway: '그래도 닫기',
  thanks: '시청해 주셔서 감사합니다',
};
