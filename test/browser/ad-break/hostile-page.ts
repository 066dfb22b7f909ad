/** What pages and games do that must not reach an ad. Each function returns a function that undoes it. */

export function replaceProperty(
  owner: object,
  name: string,
  descriptor: PropertyDescriptor,
): () => void {
  const previous = Object.getOwnPropertyDescriptor(owner, name);
  Object.defineProperty(owner, name, { configurable: true, ...descriptor });
  return () => {
    if (previous) Object.defineProperty(owner, name, previous);
    else Reflect.deleteProperty(owner, name);
  };
}

export const replaceValue = (owner: object, name: string, value: unknown): (() => void) =>
  replaceProperty(owner, name, { writable: true, value });

const stopped = () => 0;

/** Stops time, as some games do to pause. */
export function stopClocks(): () => void {
  const undo = [
    ...['Timeout', 'Interval'].flatMap((kind) =>
      ['set', 'clear'].map((verb) => replaceValue(window, verb + kind, stopped)),
    ),
    ...['requestAnimationFrame', 'cancelAnimationFrame', 'queueMicrotask'].map((name) =>
      replaceValue(window, name, stopped),
    ),
    replaceValue(performance, 'now', stopped),
    replaceValue(Date, 'now', stopped),
    replaceValue(
      window,
      'Date',
      class {
        static now = stopped;
      },
    ),
    replaceValue(EventTarget.prototype, 'addEventListener', stopped),
    replaceValue(window, 'fetch', () => new Promise(() => {})),
    replaceValue(HTMLMediaElement.prototype, 'play', () => Promise.resolve()),
    replaceValue(HTMLMediaElement.prototype, 'pause', stopped),
  ];
  return () => undo.toReversed().forEach((step) => step());
}

/** Element rules that hide, move, cover or disable everything, apart from the page and its canvas. */
export const hostileStyles = `
  *:not(html, head, body, canvas), div, dialog, img, video, iframe, button, a {
    all: unset !important; display: none !important; opacity: 0 !important; visibility: hidden !important;
    position: absolute !important; left: -9999px !important; transform: scale(0) !important;
    pointer-events: none !important; clip-path: inset(50%) !important; filter: opacity(0) !important;
    mask-image: linear-gradient(transparent, transparent) !important; content-visibility: hidden !important;
    animation: none !important; transition: all 9s !important; z-index: -1 !important; color: transparent !important;
  }
  *::before, *::after { content: '' !important; position: fixed !important; inset: 0 !important; background: red !important }
  canvas::before, canvas::after, html::before, html::after, body::before, body::after { content: none !important }
`;

export function addStyles(css: string): () => void {
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(css);
  document.adoptedStyleSheets = document.adoptedStyleSheets.concat(sheet);
  return () => {
    document.adoptedStyleSheets = document.adoptedStyleSheets.filter((other) => other !== sheet);
  };
}
