// A minimal game. It stores the rewards that were delivered to it, so that the list survives a reload.
const {
  key,
  service,
  user,
  'page-ads': pageAds,
} = Object.fromEntries(new URLSearchParams(location.search));
const deliveredRewards = () => JSON.parse(localStorage.getItem('deliveredRewards') ?? '[]');

window.ads = window.Trueward.createAds({
  publishableKey: key,
  serviceUrl: service,
  userRef: user,
  ...(pageAds && { pageAds: pageAds.split(',') }),
});
window.deliveredRewards = deliveredRewards;
window.ads.on('reward', ({ decisionId, reward }) => {
  localStorage.setItem(
    'deliveredRewards',
    JSON.stringify([...deliveredRewards(), { decisionId, ...reward }]),
  );
});
