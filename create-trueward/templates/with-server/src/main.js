import { AUTO, Game, Scale } from 'phaser';
import { TruewardPlugin } from 'trueward/phaser';
import { loadConfig, getPlayerId } from './server.js';
import { StarsScene } from './stars-scene.js';

const { publishableKey, serviceUrl } = await loadConfig();

new Game({
  type: AUTO,
  parent: 'game',
  backgroundColor: '#10122b',
  scale: { mode: Scale.FIT, autoCenter: Scale.CENTER_BOTH, width: 360, height: 540 },
  scene: StarsScene,
  plugins: {
    global: [
      {
        key: 'trueward',
        plugin: TruewardPlugin,
        start: true,
        data: { publishableKey, serviceUrl, userRef: getPlayerId() },
      },
    ],
  },
});
