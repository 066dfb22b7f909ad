/**
 * Has the Tab key go round in the overlay. Left to themselves, browsers let it leave a modal dialog for
 * their own controls (Firefox, WebKit) or pass the buttons over (Safari, as it is set at first). What is
 * inside the frame of an HTML creative is the browser's: its keys are not heard here.
 */
export function keepTab(root: ShadowRoot): () => void {
  const turn = (event: KeyboardEvent) => {
    // With Shift, WebKitGTK has no `key` for it.
    if (event.code !== 'Tab' || event.ctrlKey || event.metaKey) return;
    const stops = stopsOf(root);
    // The creative is in the page, and not in the root.
    const at = stops.findIndex((stop) => stop === (root.activeElement ?? document.activeElement));
    const last = event.shiftKey && at < 1;
    const next = last ? stops.at(-1) : (stops[at + (event.shiftKey ? -1 : 1)] ?? stops[0]);
    // Firefox lets no script answer a key by going into a frame; the way there it finds by itself.
    if (next instanceof HTMLIFrameElement && !last) return;
    event.preventDefault();
    next?.focus();
  };
  window.addEventListener('keydown', turn, true);
  return () => window.removeEventListener('keydown', turn, true);
}

/** What the keyboard can reach now, in order. */
function stopsOf(root: ShadowRoot): HTMLElement[] {
  return Array.from(root.querySelectorAll<HTMLElement>('button, a, slot'))
    .filter((element) => element.closest('[inert]') === null)
    .flatMap((element) => (element instanceof HTMLSlotElement ? frames(element) : element))
    .filter((element) => element.getClientRects().length > 0);
}

const frames = (slot: HTMLSlotElement) =>
  slot.assignedElements().filter((element) => element instanceof HTMLIFrameElement);
