/** `npm run screenshots:phaser` takes the picture in the Phaser guide: a small game with a ready-made button. */
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readOptions } from '../../../scripts/lib/read-options.mjs';
import { startInProcess } from '../../../service/test/in-process.ts';
import { launchBrowser } from '../browser.ts';

readOptions({
  name: 'screenshots:phaser',
  about:
    'Takes the picture in the Phaser guide, docs/images/phaser.png: a small game with a ready-made button.',
});
const root = join(import.meta.dirname, '../../..');
const picture = join(root, 'docs/images/phaser.png');

/** The game. Runs in the page. */
const game = `
  class Play extends Phaser.Scene {
    create() {
      for (const [x, y, radius, color] of [[150, 430, 190, 0x3a2a63], [560, 450, 240, 0x2f2354], [360, 480, 200, 0x241b45]])
        this.add.circle(x, y, radius, color);
      for (let star = 0; star < 40; star += 1)
        this.add.circle((star * 197) % 720, 40 + ((star * 83) % 120), 1 + (star % 2), 0xffffff, 0.7);
      for (const x of [120, 250, 470, 610]) {
        this.add.line(x, 0, 0, 0, 0, 60 + (x % 50), 0xffffff, 0.4).setOrigin(0);
        this.add.ellipse(x, 72 + (x % 50), 30, 38, 0xffc95c).setStrokeStyle(4, 0xfff1c9);
      }
      const style = { fontFamily: 'sans-serif', fontSize: '18px', color: '#ffffff' };
      this.add.text(24, 20, 'Coins: 120', style);
      this.add.text(360, 190, 'The lantern went out', { ...style, fontSize: '34px' }).setOrigin(0.5);
      const { ads } = this;
      ads.on('reward', () => {});
      ads.addRewardedButton({ placement: 'double-coins', x: 360, y: 250 });
    }
  }
  new Phaser.Game({
    type: Phaser.CANVAS, width: 720, height: 420, scene: Play, parent: document.body,
    backgroundColor: '#4b3a8c',
    plugins: { global: [{ key: 'trueward', plugin: TruewardPlugin, start: true, data: window.data }] },
  });`;

const dataDirectory = await mkdtemp(join(tmpdir(), 'trueward-'));
const service = await startInProcess({ RATE_LIMITS: 'off' }, { dataDirectory });
const browser = await launchBrowser();
try {
  const page = await browser.newPage({ viewport: { width: 720, height: 420 } });
  const data = {
    publishableKey: service.keys.sandbox.publishable,
    serviceUrl: service.url,
    userRef: 'player-42',
  };
  const scripts = [
    await readFile(join(root, 'node_modules/phaser/dist/phaser.min.js'), 'utf8'),
    await readFile(join(root, 'dist/trueward-phaser.js'), 'utf8'),
    `window.data = ${JSON.stringify(data)};${game}`,
  ];
  await page.route(`${service.url}/game`, (route) =>
    route.fulfill({ contentType: 'text/html', body: '<body style="margin:0"></body>' }),
  );
  await page.goto(`${service.url}/game`);
  for (const content of scripts) await page.addScriptTag({ content });
  await page.locator('canvas button', { hasText: 'coins' }).waitFor({ state: 'attached' });
  // The label is drawn in the next frame.
  await page.evaluate(() => new Promise((resolve) => requestAnimationFrame(resolve)));
  await page.screenshot({ path: picture });
} finally {
  await browser.close();
  await service.stop();
  await rm(dataDirectory, { recursive: true, force: true });
}
