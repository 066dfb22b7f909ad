import { listen } from '../platform/native.ts';

/** Returns the source expression that matches only this page. Paths are compared, but not query strings. */
function toSource(url: string): string {
  const { protocol, origin, pathname } = new URL(url, document.baseURI);
  if (!/^https?:$/.test(protocol)) return protocol;
  return origin + pathname.replace(/[;,]/g, encodeURIComponent);
}

/**
 * Fills an empty frame with a frame that can show only the creative's page. A page can navigate its own frame, even
 * before it has loaded, and the sandbox doesn't keep it from that. The content security policy of the page around it does.
 *
 * @param outer - A frame in this page, without a `src`. Its document belongs to this page.
 * @param inner - The frame that shows the creative.
 * @param url - The creative's page. Undefined for an inline creative, which may show no other page at all.
 * @param onLeave - Called when the creative tries to show another page. It is not requested.
 * @returns A function that ends the calls of `onLeave`, or undefined if the frame isn't closed: a page with an opaque
 *   origin can't use the documents of its own frames.
 */
export function closeFrame(
  outer: HTMLIFrameElement,
  inner: HTMLIFrameElement,
  url: string | undefined,
  onLeave: () => void,
): (() => void) | undefined {
  const shell = outer.contentDocument;
  if (!shell?.body) return undefined;
  const meta = shell.createElement('meta');
  meta.httpEquiv = 'Content-Security-Policy';
  meta.content = `frame-src ${url === undefined ? "'none'" : toSource(url)}`;
  shell.head.append(meta);
  // An empty document is in quirks mode, and a strict page blocks style attributes, but not this.
  Object.assign(inner.style, fill);
  shell.body.append(inner);
  return listen(shell, 'securitypolicyviolation', onLeave);
}

const fill = { position: 'fixed', top: '0', left: '0', width: '100%', height: '100%', border: '0' };
