import { attempt, toList } from '../platform/guard.ts';

/** How much of an ad a person can see. */
export interface VisibleShare {
  /** From 0 to 1. */
  ratio: number;
  /** Why the ad is not entirely visible, for the developer. */
  cause?: string;
}

/** Below this opacity, an ad counts as invisible. */
const minOpacity = 0.5;
/** An ad that is smaller than this in either direction counts as invisible, in CSS pixels. */
const minSide = 5;

/** Nine evenly spaced points, as fractions of the width and height. */
const grid = [1, 3, 5].flatMap((x) => [1, 3, 5].map((y) => [x / 6, y / 6] as const));

/**
 * Returns the share of an element that is on the screen, visible and not covered. Tests styles and individual points,
 * because an intersection observer detects neither invisible styles nor other elements on top. Until the observer has a
 * result, points outside the window count as invisible.
 */
export function measureVisibleShare(
  element: Element,
  observedRatio: number | undefined,
): VisibleShare {
  const { height, width } = element.getBoundingClientRect();
  if (Math.min(height, width) < minSide)
    return { ratio: 0, cause: `its size is ${Math.round(width)} × ${Math.round(height)}` };
  if (observedRatio === 0) return { ratio: 0, cause: 'it is outside the window or cut off' };
  const styleCause = findStyleCause(element);
  if (styleCause !== undefined) return { ratio: 0, cause: styleCause };
  const root = element.getRootNode() as Document | ShadowRoot;
  const hits = findPoints(element)
    .map(([x, y]) => root.elementFromPoint(x, y))
    .filter((hit) => hit !== null);
  // Only Chromium's observer notices that an element is clipped. Elsewhere, a point of it hits something behind it.
  const isSeen = isClipped(element)
    ? (hit: Element) => element.contains(hit)
    : (hit: Element) => isPartOf(hit, element);
  const covers = hits.filter((hit) => !isSeen(hit));
  const uncovered = hits.length - covers.length;
  const ratio =
    observedRatio === undefined
      ? uncovered / grid.length
      : (observedRatio * uncovered) / (hits.length || 1);
  if (ratio === 1) return { ratio };
  const cover = covers.find((hit) => !hit.contains(element));
  return {
    ratio,
    cause: cover ? `${describeElement(cover)} covers it` : 'it is outside the window or cut off',
  };
}

/**
 * Returns the share of an element that isn't covered by elements that ignore the pointer, which
 * {@link measureVisibleShare} doesn't see. This makes the browser compute the page's styles, so it is only for the final
 * check.
 */
export function measureUnveiledShare(element: Element): VisibleShare {
  const sheet = attempt(() => {
    const pointerSheet = new CSSStyleSheet();
    pointerSheet.replaceSync('* { pointer-events: auto !important }');
    document.adoptedStyleSheets = document.adoptedStyleSheets.concat(pointerSheet);
    return pointerSheet;
  });
  const veils = findPoints(element).map(([x, y]) => {
    const stack = document.elementsFromPoint(x, y);
    const end = stack.findIndex((hit) => isPartOf(hit, element));
    return stack.slice(0, Math.max(end, 0)).find(paints);
  });
  document.adoptedStyleSheets = document.adoptedStyleSheets.filter((other) => other !== sheet);
  const [veil] = veils.filter((hit) => hit !== undefined);
  if (veil === undefined) return { ratio: 1 };
  return {
    ratio: veils.filter((hit) => hit === undefined).length / grid.length,
    cause: `${describeElement(veil)} covers it`,
  };
}

function findPoints(element: Element): [x: number, y: number][] {
  const { height, left, top, width } = element.getBoundingClientRect();
  return grid.map(([x, y]) => [left + x * width, top + y * height]);
}

const isPartOf = (hit: Element, element: Element): boolean =>
  hit.contains(element) || element.contains(hit);

/** Whether an element draws something itself. Its background may be translucent. */
function paints(element: Element): boolean {
  if (/^(?:img|video|canvas|iframe|object|embed|svg)$/i.test(element.tagName)) return true;
  const { backgroundColor, backgroundImage, opacity } = getComputedStyle(element);
  const alpha = /^rgba\(.*, ([\d.]+)\)$|\/ ([\d.]+)\)$/.exec(backgroundColor);
  const drawsColor = Number(alpha?.[1] ?? alpha?.[2] ?? 1) > 1 - minOpacity;
  return Number(opacity) > 1 - minOpacity && (drawsColor || backgroundImage !== 'none');
}

/** Returns which style makes an element or one of its ancestors invisible, if any. */
function findStyleCause(element: Element): string | undefined {
  const { visibility } = getComputedStyle(element);
  if (visibility !== 'visible') return `its visibility is ${visibility}`;
  // The page can't style the ad's own elements, which fade in.
  const own = element.parentElement?.shadowRoot;
  let opacity = 1;
  for (let node: Element | undefined = element; node !== undefined; node = findParent(node)) {
    // An element in the top layer is drawn without its ancestors' effects.
    if (isOnTopLayer(node)) return undefined;
    if (own && node.getRootNode() === own) continue;
    const style = getComputedStyle(node);
    const filters = toList(style.filter.matchAll(/(opacity|brightness|contrast|blur)\(([\d.]+)/g));
    opacity *= Number(style.opacity);
    for (const [, name, value] of filters) {
      if (name === 'blur' ? Number(value) > 10 : Number(value) < 0.2)
        return `${describeElement(node)} has the filter ${style.filter}`;
      if (name === 'opacity') opacity *= Number(value);
    }
    if (opacity < minOpacity)
      return `its opacity is ${opacity.toFixed(2)}, because of ${describeElement(node)}`;
    if ((style.maskImage || 'none') !== 'none') return `${describeElement(node)} has a mask`;
    if (style.backfaceVisibility === 'hidden' && facesAway(style.transform))
      return `${describeElement(node)} shows its back`;
  }
  return undefined;
}

/** Whether a style may clip the element. */
function isClipped(element: Element): boolean {
  for (let node: Element | undefined = element; node !== undefined; node = findParent(node)) {
    const { clip, clipPath } = getComputedStyle(node);
    if ((clip || 'auto') !== 'auto' || (clipPath || 'none') !== 'none') return true;
    if (isOnTopLayer(node)) return false;
  }
  return false;
}

const facesAway = (transform: string): boolean =>
  attempt(() => new DOMMatrix(transform).m33 < 0) === true;

/** Returns an element's parent as it is drawn, with slots and shadow roots taken into account. */
const findParent = (element: Element): Element | undefined =>
  element.assignedSlot ??
  element.parentElement ??
  (element.getRootNode() as Partial<ShadowRoot>).host;

const isOnTopLayer = (element: Element): boolean =>
  ['dialog:modal', ':popover-open', ':fullscreen'].some(
    (selector) => attempt(() => element.matches(selector)) === true,
  );

function describeElement({ classList, id, tagName }: Element): string {
  const names = (id && `#${id}`) + Array.from(classList, (name) => `.${name}`).join('');
  return `<${tagName.toLowerCase()}>${names && ` (${names})`}`;
}
