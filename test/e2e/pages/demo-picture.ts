/** `npm run screenshots:demo` takes the picture of the demo game on the documentation's start page. */
import { join } from 'node:path';
import { readOptions } from '../../../scripts/lib/read-options.mjs';
import { launchBrowser } from '../browser.ts';
import { startStack } from '../stack.ts';

readOptions({
  name: 'screenshots:demo',
  about:
    'Takes the picture of the demo game on the documentation’s start page, docs/images/demo.jpg.',
});
const path = join(import.meta.dirname, '../../../docs/images/demo.jpg');
const stack = await startStack();
const browser = await launchBrowser();
try {
  const page = await browser.newPage({
    viewport: { width: 1280, height: 800 },
    deviceScaleFactor: 0.75,
  });
  await page.goto(`${stack.gameServerUrl}/?seed=7`);
  await page.getByRole('button', { name: 'Play' }).click();
  // Without input, the lantern falls into the water.
  await page.getByRole('button', { name: 'Revive' }).waitFor();
  await page.getByText('Watch a short ad for 50 coins').waitFor();
  await page.screenshot({ path, type: 'jpeg', quality: 85 });
} finally {
  await browser.close();
  await stack.stop();
}
