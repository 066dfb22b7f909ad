import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { extname, join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'vitest';
import { addAxe, findCutOff, findViolations } from './panel/page-checks.ts';
import { it as test } from './worker.ts';

const root = join(import.meta.dirname, '../..');
const types: Readonly<Record<string, string>> = {
  '.html': 'text/html',
  '.js': 'text/javascript',
  '.css': 'text/css',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.jpg': 'image/jpeg',
};

let folder: string;
let server: Server;
let url: string;
test.beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'trueward-docs-'));
  await promisify(execFile)(
    process.execPath,
    ['node_modules/vitepress/bin/vitepress.js', 'build', 'docs', '--outDir', folder],
    { cwd: root },
  );
  server = createServer((request, response) => {
    const { pathname } = new URL(request.url ?? '/', 'http://docs.test');
    readFile(join(folder, pathname)).then(
      (file) => {
        response.setHeader('content-type', types[extname(pathname)] ?? 'application/octet-stream');
        response.end(file);
      },
      () => response.writeHead(404).end(),
    );
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}, 300_000);
test.afterAll(async () => {
  server.close();
  server.closeAllConnections();
  await rm(folder, { recursive: true });
});

const listPages = async (): Promise<string[]> =>
  (await readdir(folder, { recursive: true })).filter(
    (file) => file.endsWith('.html') && file !== '404.html',
  );

const sizes = [
  { width: 1_440, height: 900 },
  { width: 1_024, height: 768 },
  { width: 390, height: 844 },
];

for (const viewport of sizes) {
  test(`no page of the site cuts anything off or violates a rule of axe, ${viewport.width} pixels wide`, async ({
    browser,
  }) => {
    const context = await browser.newContext({ viewport, reducedMotion: 'reduce' });
    const page = await context.newPage();
    const problems: string[] = [];
    const failed: string[] = [];
    page.on('response', (response) => {
      if (response.status() >= 400) failed.push(response.url());
    });
    for (const file of await listPages()) {
      await page.emulateMedia({ colorScheme: 'light' });
      await page.goto(`${url}/${file}`);
      await page.locator('#app .VPContent').waitFor();
      await addAxe(page);
      const found = [...(await findCutOff(page)), ...(await findViolations(page))];
      await page.emulateMedia({ colorScheme: 'dark' });
      await page.locator('html.dark').waitFor();
      found.push(...(await findViolations(page, ['color-contrast'])));
      problems.push(...found.map((each) => `${file}: ${each}`));
    }
    await context.close();
    expect(problems).toEqual([]);
    expect(failed).toEqual([]);
  }, 900_000);
}
