import { onVisibilityChange } from '../platform/front-door.ts';
import { native } from '../platform/native.ts';

/** Covers of this page. Every copy of this script shares them through the document. */
interface Covers {
  count: number;
  listeners: Set<() => void>;
}

const coversKey: unique symbol = Symbol.for('trueward.covers') as never;

const findCovers = (): Covers => {
  const page: { [coversKey]?: Covers } = document as object;
  return (page[coversKey] ??= { count: 0, listeners: new Set() });
};

/** Notes that an ad covers the page. Returns a function to call once, when it no longer does. */
export function coverPage(): () => void {
  const covers = findCovers();
  const change = (step: number): void => {
    covers.count += step;
    covers.listeners.forEach((listener) => listener());
  };
  change(1);
  return () => change(-1);
}

/**
 * Calls `onChange` whenever the element starts or stops being in view: it is on a visible page, at least partly inside
 * the viewport, and not behind an ad. It counts as in view at first.
 */
export function watchView(element: Element, onChange: (inView: boolean) => void): () => void {
  const covers = findCovers();
  let onScreen = true;
  let inView = true;
  const update = (): void => {
    const next = onScreen && !native.isHidden() && covers.count === 0;
    if (next !== inView) onChange((inView = next));
  };
  const observer =
    typeof IntersectionObserver === 'function'
      ? new IntersectionObserver((entries) => {
          onScreen = entries.at(-1)?.isIntersecting ?? true;
          update();
        })
      : undefined;
  observer?.observe(element);
  covers.listeners.add(update);
  const stopListening = onVisibilityChange(update);
  update();
  return () => {
    observer?.disconnect();
    covers.listeners.delete(update);
    stopListening();
  };
}
