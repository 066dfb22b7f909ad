// The page's own script. It runs before the script tag has loaded.
window.Trueward = window.Trueward || { queue: [] };
window.runs = 0;

window.Trueward.queue.push(
  () => {
    throw new Error('a command that throws');
  },
  (ads) => {
    window.runs += 1;
    window.ads = ads;
    // The script may run before the button exists.
    document.addEventListener('click', ({ target }) => {
      if (target.id !== 'play') return;
      void ads.showRewarded('revive').then(({ outcome }) => {
        document.querySelector('#outcome').textContent = outcome;
      });
    });
    document.documentElement.dataset.ready = 'yes';
  },
);
