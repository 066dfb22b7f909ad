/**
 * The rules that keep the page's styles away from an ad. In a shadow root, `!important` overrides even the page's
 * `!important` rules, because the inner tree wins. `all` resets every property except `direction`, `unicode-bidi`,
 * custom properties and, in WebKit, `font-family`, for which even `initial` does not help.
 */
const reset = `
:host, ::slotted(*) {
  all: initial !important; font-family: serif !important; direction: ltr !important; unicode-bidi: isolate !important;
}
:host([dir=rtl]), :host([dir=rtl]) ::slotted(*) { direction: rtl !important }
:host::before, :host::after { content: none !important }
`;

/**
 * Creates an ad's root element. Until {@link dressHost} is called, nothing in it is rendered, whatever the page's styles
 * are: a child of an element with a shadow root needs a slot.
 */
export function createHost(): HTMLElement {
  const host = document.createElement('div');
  host.attachShadow({ mode: 'open' });
  return host;
}

/**
 * Returns the root element of a creative. A frame keeps the one in which it was loaded, because moving a frame reloads
 * it.
 */
export function findHost(creative: HTMLElement): HTMLElement {
  const parent = creative.parentElement;
  if (parent?.shadowRoot) return parent;
  const host = createHost();
  host.append(creative);
  return host;
}

let sheetCount = 0;

/**
 * Adds the reset and the ad's styles to a host that is about to be shown in `parent`.
 *
 * The stylesheet is constructed, because a strict `style-src` blocks style elements and attributes. Each stylesheet's
 * text is unique. If the text were the same, WebKit would reuse media query results and viewport units from before the
 * phone was rotated.
 */
export function dressHost(host: HTMLElement, parent: Element, css: string): ShadowRoot {
  const root = host.shadowRoot ?? host.attachShadow({ mode: 'open' });
  const sheet = new CSSStyleSheet();
  // `zoom` multiplies down the tree.
  const zoom = `:host { zoom: ${1 / findZoom(parent)} !important }`;
  sheet.replaceSync(`${reset}${zoom}${css}/* ${(sheetCount += 1)} */`);
  root.adoptedStyleSheets = [sheet];
  return root;
}

/** Returns the product of the zoom factors of an element and its ancestors. */
function findZoom(element: Element | null): number {
  if (element === null) return 1;
  const { zoom } = getComputedStyle(element) as CSSStyleDeclaration & { zoom?: string };
  return (Number(zoom) || 1) * findZoom(element.parentElement);
}
