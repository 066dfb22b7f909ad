// The smallest game: it remembers every reward that was handed to it, also across reloads.
const { key, service, user, format } = Object.fromEntries(new URLSearchParams(location.search));
const handed = () => JSON.parse(localStorage.getItem('handed') ?? '[]');

window.ads = window.Trueward.createAds({
  publishableKey: key,
  serviceUrl: service,
  userRef: user,
  // Asks for one kind of creative, so that a test knows how long the ad runs.
  fetch: (address, request) =>
    fetch(address, {
      ...request,
      ...(String(address).endsWith('/v1/decisions') && {
        body: JSON.stringify({ ...JSON.parse(request.body), formats: [format] }),
      }),
    }),
});
window.handed = handed;
window.ads.on('reward', ({ decisionId, reward }) => {
  localStorage.setItem('handed', JSON.stringify([...handed(), { decisionId, ...reward }]));
});
