// A game that has no server and no ids for its players. With `?crash`, it dies before it has saved what was bought.
const { key, service, crash } = Object.fromEntries(new URLSearchParams(location.search));
const read = (name) => JSON.parse(localStorage.getItem(name) ?? '[]');
const add = (name, item) => localStorage.setItem(name, JSON.stringify([...read(name), item]));

window.ads = window.Trueward.createAds({ publishableKey: key, serviceUrl: service });
window.bought = () => read('bought');
window.handlerCalls = () => read('handlerCalls');
window.ads.on('spend', ({ id, reason }) => {
  add('handlerCalls', id);
  if (crash) return new Promise(() => {});
  if (!window.bought().some((item) => item.id === id)) add('bought', { id, reason });
});
