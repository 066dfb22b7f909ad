import { loadConfig } from '../src/game-server.ts';
import { element, write } from '../src/ui/element.ts';
import { startGame } from './canvas-game.ts';

const { publishableKey, serviceUrl } = await loadConfig();
const ads = startGame(element('game', HTMLCanvasElement), {
  publishableKey,
  serviceUrl,
  userRef: 'player-42',
});
const button = element('revive', HTMLButtonElement);
ads.on('change', () => {
  button.disabled = !ads.canShow('revive');
});
button.addEventListener('click', () => void watch());
void ads.preload('revive');

async function watch(): Promise<void> {
  const { outcome } = await ads.showRewarded('revive');
  write('#outcome', outcome);
  void ads.preload('revive');
}
