// A page's own script: it runs before the script tag has loaded.
window.trueward = window.trueward || [];
window.runs = 0;

window.trueward.push(
  () => {
    throw new Error('a command that throws');
  },
  (ads) => {
    window.runs += 1;
    window.ads = ads;
    document.querySelector('#play').addEventListener('click', () => {
      void ads.showRewarded('picture').then(({ outcome }) => {
        document.querySelector('#outcome').textContent = outcome;
      });
    });
    document.body.dataset.ready = 'yes';
  },
);
