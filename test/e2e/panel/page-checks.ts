import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import type axeCore from 'axe-core';
import type { Page } from 'playwright';

const axeFile = createRequire(import.meta.url).resolve('axe-core/axe.min.js');

/** Makes {@link findViolations} work on a page until its document is replaced. */
export async function addAxe(page: Page): Promise<void> {
  await page.evaluate(await readFile(axeFile, 'utf8'));
}

/**
 * Returns the violations that axe finds on a page.
 *
 * @param rules The rules to check. Default: all rules.
 */
export async function findViolations(page: Page, rules?: readonly string[]): Promise<string[]> {
  // Doesn't check frames, because they contain previews of creatives, which belong to the advertisers.
  const options: axeCore.RunOptions = {
    iframes: false,
    resultTypes: ['violations'],
    ...(rules ? { runOnly: [...rules] } : { rules: { 'target-size': { enabled: true } } }),
  };
  const { passedRules, violations } = await page.evaluate(async (runOptions) => {
    const { axe } = window as unknown as { axe: typeof axeCore };
    const results = await axe.run(document, runOptions);
    return {
      passedRules: results.passes.map(({ id }) => id),
      violations: results.violations.flatMap(({ id, nodes }) =>
        nodes.map(({ html }) => `${id}: ${html.slice(0, 200)}`),
      ),
    };
  }, options);
  const checkedRules = [...passedRules, ...violations.map((text) => text.split(':')[0])];
  if (!checkedRules.includes('color-contrast')) throw new Error('axe has checked no colors.');
  return violations;
}

/**
 * Returns what is cut off on a page: the page scrolls sideways, something that can be read or pressed is beyond the
 * screen and can't be scrolled to, or a text doesn't fit into its box. A text that ends in “…” must be readable in a
 * tooltip.
 */
export function findCutOff(page: Page): Promise<string[]> {
  return page.evaluate(() => {
    const problems: string[] = [];
    const { clientWidth: width, scrollWidth } = document.documentElement;
    if (scrollWidth > width) problems.push(`The page is ${scrollWidth} px wide.`);

    const hasText = (element: Element): boolean =>
      [...element.childNodes].some(
        (node) => node.nodeType === Node.TEXT_NODE && node.textContent?.trim() !== '',
      );
    const isControl = (element: Element): boolean =>
      element.matches('a[href], button, input:not([type=file]), select, textarea, summary');
    // Read by screen readers only.
    const isHidden = (element: Element): boolean =>
      !element.checkVisibility({ visibilityProperty: true, opacityProperty: true }) ||
      element.getBoundingClientRect().width <= 1;
    const isIn = (element: Element, property: 'overflowX', values: string[]): boolean => {
      for (let parent = element.parentElement; parent; parent = parent.parentElement)
        if (values.includes(getComputedStyle(parent)[property])) return true;
      return false;
    };
    const describe = (element: Element): string =>
      `${element.tagName.toLowerCase()} “${(element.textContent || element.getAttribute('aria-label') || '').trim().slice(0, 60)}”`;

    for (const element of document.querySelectorAll('body *')) {
      if ((!hasText(element) && !isControl(element)) || isHidden(element)) continue;
      const { left, right } = element.getBoundingClientRect();
      const isBeyond = left < -1 || right > width + 1;
      if (isBeyond && !isIn(element, 'overflowX', ['auto', 'scroll']))
        problems.push(`${describe(element)} is beyond the screen.`);
      const { overflowX, overflowY, textOverflow } = getComputedStyle(element);
      if (element.matches('input, textarea, select, summary, pre, .recharts-wrapper *')) continue;
      const isCut = (overflow: string, content: number, box: number): boolean =>
        ['hidden', 'clip'].includes(overflow) && content > box + 2;
      if (isCut(overflowX, element.scrollWidth, element.clientWidth)) {
        const canBeRead = textOverflow === 'ellipsis' && element.closest('[title]') !== null;
        if (!canBeRead) problems.push(`${describe(element)} is cut off.`);
      }
      if (isCut(overflowY, element.scrollHeight, element.clientHeight))
        problems.push(`${describe(element)} is cut off at the bottom.`);
    }
    return [...new Set(problems)];
  });
}

/**
 * Presses Tab until the focus has left the page, and returns where it was not visible: no ring, beyond the screen, or
 * under something else. Also returns the controls that it never reached.
 */
export async function findLostFocus(page: Page): Promise<string[]> {
  await page.evaluate(() => {
    document.body.tabIndex = -1;
    document.body.focus();
    document.body.removeAttribute('tabindex');
  });
  const problems: string[] = [];
  for (let presses = 0; presses < 400; presses += 1) {
    await page.keyboard.press('Tab');
    const stop = await page.evaluate(checkFocus);
    if (stop === undefined) return problems;
    if (stop.problem !== undefined) problems.push(`${stop.name} ${stop.problem}`);
  }
  return [...problems, 'The focus never leaves the page.'];
}

/** Where the focus is; undefined once it has been everywhere. Runs in the page. */
function checkFocus(): { name: string; problem?: string } | undefined {
  const element = document.activeElement;
  const seen = ((window as unknown as { seen?: WeakSet<Element> }).seen ??= new WeakSet());
  if (!element || element === document.body || seen.has(element)) {
    delete (window as unknown as { seen?: WeakSet<Element> }).seen;
    return undefined;
  }
  seen.add(element);
  const label = element.getAttribute('aria-label') ?? element.textContent ?? '';
  const name = `${element.tagName.toLowerCase()} “${(label || element.id).trim().slice(0, 60)}”`;
  // The player's own page.
  if (element.tagName === 'IFRAME') return { name };
  const box = element.getBoundingClientRect();
  // A checkbox is drawn by what is around it.
  const isDrawn = box.width > 1 && getComputedStyle(element).opacity !== '0';
  const drawn = isDrawn ? element : (element.parentElement ?? element);
  const { left, top, width, height } = drawn.getBoundingClientRect();
  const [x, y] = [left + Math.min(width / 2, 40), top + height / 2];
  if (x < 0 || y < 0 || x > innerWidth || y > innerHeight)
    return {
      name,
      problem: `has the focus beyond the screen, at ${Math.round(x)}, ${Math.round(y)}.`,
    };
  const over = document.elementFromPoint(x, y);
  const isCovered =
    over !== null &&
    !drawn.contains(over) &&
    !over.contains(drawn) &&
    over.closest('label, .MuiFormControl-root, .MuiButtonBase-root')?.contains(drawn) !== true;
  if (isCovered) return { name, problem: `has the focus under ${over.className || over.tagName}.` };
  let hasRing = false;
  for (
    let each: Element | null = element, depth = 0;
    each && depth < 5 && !hasRing;
    each = each.parentElement, depth += 1
  ) {
    const { outlineStyle, outlineWidth } = getComputedStyle(each);
    hasRing =
      (outlineStyle !== 'none' && Number.parseFloat(outlineWidth) >= 1) ||
      // A text field's border becomes thicker.
      each.matches('.MuiInputBase-root.Mui-focused');
  }
  return hasRing ? { name } : { name, problem: 'shows no focus.' };
}
