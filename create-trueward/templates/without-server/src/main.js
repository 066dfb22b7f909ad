import { Game, Scale } from 'phaser';
import { TruewardPlugin } from 'trueward/phaser';
import { StarsScene } from './stars-scene.js';

// Without a player id, the first ad makes a guest player on this device.
const { VITE_PUBLISHABLE_KEY: publishableKey, VITE_SERVICE_URL: serviceUrl } = import.meta.env;
const data = { publishableKey, serviceUrl };

new Game({
  parent: 'game',
  backgroundColor: '#10122b',
  scale: { mode: Scale.FIT, autoCenter: Scale.CENTER_BOTH, width: 360, height: 540 },
  scene: StarsScene,
  plugins: { global: [{ key: 'trueward', plugin: TruewardPlugin, start: true, data }] },
});
