// A typical ads library with a backend for Google's Ad Placement API. It uses only `window.adsbygoogle` and loads
// Google's script itself. As soon as a rewarded break ends, the library requests the next one, so that a rewarded ad is
// available again.
window.adsbygoogle = window.adsbygoogle || [];

export function startAdsLibrary(onNeedsPause) {
  let accept;
  let settleReward;
  const hold = { beforeAd: () => onNeedsPause(true), afterAd: () => onNeedsPause(false) };

  function offer() {
    window.adsbygoogle.push({
      type: 'reward',
      ...hold,
      beforeReward: (showAd) => (accept = showAd),
      adViewed() {},
      adDismissed() {},
      adBreakDone({ breakStatus }) {
        accept = undefined;
        settleReward?.(breakStatus);
        settleReward = undefined;
        setTimeout(offer, 100);
      },
    });
  }

  const google = document.createElement('script');
  google.src = 'https://pagead2.googlesyndication.com/pagead/js/adsbygoogle.js?client=ca-pub-1';
  google.onload = () => {
    window.adsbygoogle.push({ preloadAdBreaks: 'on' });
    offer();
  };
  document.head.append(google);

  return {
    canShowRewardedAd: () => accept !== undefined,
    showRewardedAd: () =>
      new Promise((resolve) => {
        settleReward = resolve;
        accept();
      }),
    showFullScreenAd: () =>
      new Promise((resolve) => {
        window.adsbygoogle.push({
          type: 'pause',
          ...hold,
          adBreakDone: ({ breakStatus }) => resolve(breakStatus),
        });
      }),
  };
}
