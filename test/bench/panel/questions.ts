/** `npm run bench:questions` answers questions with the panel, at the speed of a person. See `--help`. */
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { chromium, type Locator } from 'playwright';
import { format } from 'prettier';
import { readOptions } from '../../../scripts/lib/read-options.mjs';
import { createClient } from '../../../service/test/http/client.ts';
import { signInOwner } from '../../../service/test/http/panel-client.ts';
import { startInProcess } from '../../../service/test/in-process.ts';
import { fillQuestions, questions } from '../../e2e/panel/questions.ts';
import { type Row, table } from '../history/judge.ts';
import { readOrigin } from '../service/results.ts';

const options = readOptions({
  name: 'bench:questions',
  about: `Answers the questions of a support person and an advertiser with the panel, at the speed of somebody who looks before
each click, types with ten fingers and reads the answer. Prints clicks and seconds.`,
  options: { publish: 'writes them to docs/benchmarks/panel' },
});
const measured = readOrigin();

/** How long a person takes to find what to click, for a key, and for a word of an answer. */
const pace = { lookMs: 1_500, keyMs: 150, wordMs: 250 };

const dataDirectory = await mkdtemp(join(tmpdir(), 'trueward-questions-'));
const service = await startInProcess({}, { dataDirectory });
const browser = await chromium.launch({
  executablePath: process.env['CHROMIUM_PATH'] ?? '/usr/bin/chromium',
  args: ['--no-sandbox'],
});
try {
  const owner = await signInOwner(service);
  await fillQuestions({ owner, game: createClient(service) });
  // Counts and the first delivery's failure are known a moment later.
  await sleep(2_000);
  const context = await browser.newContext({ viewport: { width: 1_440, height: 900 } });
  const [name = '', value = ''] = owner.cookie()?.split('=') ?? [];
  await context.addCookies([{ name, value, url: service.url }]);
  const rows: Row[] = [];
  for (const { question, find, answer } of questions) {
    const page = await context.newPage();
    await page.goto(`${service.url}/panel/`);
    await page.getByRole('heading', { name: 'Overview', level: 1 }).waitFor();
    let clicks = 0;
    const press = async (target: Locator): Promise<void> => {
      await target.waitFor();
      await sleep(pace.lookMs);
      await target.hover();
      await target.click();
      clicks += 1;
    };
    const startedAtMs = performance.now();
    const text = await find({
      page,
      click: press,
      async type(field, characters) {
        await press(field);
        await field.pressSequentially(characters, { delay: pace.keyMs });
      },
      async read(target) {
        await target.waitFor();
        await sleep(pace.lookMs);
        const read = (await target.textContent()) ?? '';
        await sleep(read.split(/\s+/).length * pace.wordMs);
        return (await target.textContent()) ?? '';
      },
    });
    const seconds = ((performance.now() - startedAtMs) / 1_000).toFixed(1);
    rows.push({ question, clicks, seconds, answered: answer.test(text) ? 'yes' : '**no**' });
    await page.close();
  }
  console.table(rows);
  if (options.publish) await publish(rows);
} finally {
  await browser.close();
  await service.stop();
  await rm(dataDirectory, { recursive: true, force: true });
}

async function publish(rows: readonly Row[]): Promise<void> {
  const folder = join(import.meta.dirname, '../../../docs/benchmarks/panel');
  const text = `# What people ask the panel

\`npm run bench:questions\` answers the questions of a support person and an advertiser with the panel alone, beginning on the
overview. It looks for ${pace.lookMs / 1_000} s before each click and each answer, types a key in ${pace.keyMs / 1_000} s, and reads a word in ${pace.wordMs / 1_000} s. Goal: 30 s each.

${measured.date}, ${measured.machine}.

${table(rows)}
`;
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, 'questions.md'), await format(text, { parser: 'markdown' }));
}
