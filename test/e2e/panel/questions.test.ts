import { expect, inject } from 'vitest';
import { it as test } from '../worker.ts';
import { type PanelSite, startPanelSite } from './panel-site.ts';
import { fillQuestions, questions, type Visitor } from './questions.ts';

let site: PanelSite;
test.beforeAll(async ({ browser }) => {
  site = await startPanelSite(browser);
  await fillQuestions(site);
});
test.afterAll(() => site.stop());

// A quick run asks the questions that no other quick test of the panel asks.
const quick = ['Which house ad earned the most clicks?', 'Player 42 got no coins: why?'];

for (const { question, find, answer, clicks } of questions) {
  test.runIf(inject('full') || quick.includes(question))(question, async () => {
    const page = await site.open('/');
    let clickCount = 0;
    const visitor: Visitor = {
      page,
      async click(target) {
        clickCount += 1;
        await target.click();
      },
      async type(field, text) {
        clickCount += 1;
        await field.fill(text);
      },
      async read(target) {
        await expect.poll(() => target.textContent()).toMatch(answer);
        return (await target.textContent()) ?? '';
      },
    };
    expect(await find(visitor)).toMatch(answer);
    expect(clickCount).toBe(clicks);
  });
}
