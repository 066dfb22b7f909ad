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
 * @returns Whether the frame is closed. If this page has an opaque origin, it can't use the documents of its own frames.
 */
export function closeFrame(
  outer: HTMLIFrameElement,
  inner: HTMLIFrameElement,
  url: string | undefined,
  onLeave: () => void,
): boolean {
  const shell = outer.contentDocument;
  if (!shell?.body) return false;
  const meta = shell.createElement('meta');
  meta.httpEquiv = 'Content-Security-Policy';
  meta.content = `frame-src ${url === undefined ? "'none'" : toSource(url)}`;
  shell.head.append(meta);
  // The listener goes with the frame's document.
  listen(shell, 'securitypolicyviolation', onLeave);
  // An empty document is in quirks mode, and a strict page blocks style attributes, but not this.
  for (const [name, value] of Object.entries(fill)) inner.style.setProperty(name, value);
  shell.body.append(inner);
  return true;
}

const fill = { position: 'fixed', top: '0', left: '0', width: '100%', height: '100%', border: '0' };
