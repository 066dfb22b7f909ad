import { attempt } from '../platform/guard.ts';
import { listen } from '../platform/native.ts';
import { dressHost } from './host.ts';
import { overlayStyle } from './overlay-style.ts';

/**
 * Turns an overlay with the game. An engine turns its container by CSS if the player holds the phone the other way than the
 * game wants. Returns a function that stops it.
 */
export function followTurn(host: HTMLElement, game: Element | null): () => void {
  let turn = 0;
  const update = (): void => {
    const next = findTurn(game);
    if (next === turn) return;
    turn = next;
    dressHost(host, document.body, turnStyle(overlayStyle, turn));
  };
  update();
  // Style sheets follow the screen at once. Engines set styles and classes some time afterward.
  const observer = new MutationObserver(update);
  observer.observe(document, {
    subtree: true,
    attributes: true,
    attributeFilter: ['style', 'class'],
  });
  const stopListening = listen(window, 'resize', update);
  return () => {
    observer.disconnect();
    stopListening();
  };
}

/** Returns by how many quarter turns, clockwise, the page has turned an element. A mirrored element isn't turned. */
export function findTurn(element: Element | null): number {
  let angle = 0;
  for (let current = element; current; current = current.parentElement) {
    const { rotate, transform } = getComputedStyle(current);
    angle += findAngle(transform) + findAngle(`rotate(${rotate})`);
  }
  return Math.round(angle / (Math.PI / 2)) & 3;
}

/** A browser that doesn't know `rotate`, and a turn around another axis, give a text that can't be parsed. */
const findAngle = (transform: string): number =>
  attempt(() => {
    const { a, b, c, d } = new DOMMatrix(transform);
    return Math.atan2(b - c, a + d);
  }) ?? 0;

/** Turns the styles of a dialog that fills the screen. */
function turnStyle(style: string, turn: number): string {
  const sides = ['top', 'right', 'bottom', 'left'];
  const padding = sides.map((_, at) => `env(safe-area-inset-${sides[(at + turn) % 4]})`).join(' ');
  const isAcross = turn % 2 === 1;
  // The dialog's height is the screen's width then.
  const ownStyle = isAcross ? style.replaceAll('(max-height', '(max-width') : style;
  const size = isAcross ? 'width: 100vh; width: 100dvh; height: 100vw;' : '';
  return `${ownStyle}
dialog {
  inset: 50% auto auto 50%; ${size} padding: ${padding};
  transform: translate(-50%, -50%) rotate(${turn * 90}deg);
}`;
}
