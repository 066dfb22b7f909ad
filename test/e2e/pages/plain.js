// A minimal game: it stores every reward that is delivered to it, across reloads.
const { key, service, user } = Object.fromEntries(new URLSearchParams(location.search));
const handed = () => JSON.parse(localStorage.getItem('handed') ?? '[]');

window.ads = window.Trueward.createAds({
  publishableKey: key,
  serviceUrl: service,
  userRef: user,
});
window.handed = handed;
window.ads.on('reward', ({ decisionId, reward }) => {
  localStorage.setItem('handed', JSON.stringify([...handed(), { decisionId, ...reward }]));
});
