import { SaxesParser } from 'saxes';
import { VastError, vastErrorCodes } from './vast-error.ts';

/** A parsed element. Names have no namespace prefix. */
export interface XmlElement {
  readonly name: string;
  /** Attribute values by lowercase name, because servers write `adId`, `AdID` and `adID`. */
  readonly attributes: ReadonlyMap<string, string>;
  readonly children: readonly XmlElement[];
  /** The element's own text and CDATA sections, joined in order and trimmed. */
  readonly text: string;
}

export interface XmlDocument {
  root: XmlElement;
  /** How many bare ampersands were escaped to make the document well-formed. */
  repairs: number;
}

/** Maximum length in characters. A response has up to 256 KiB of UTF-8, so it never has more characters than this. */
export const maxDocumentLength = 262_144;
/** Maximum nesting depth. VAST itself needs nine levels. */
const maxDepth = 32;
/** Maximum total number of elements, attributes and text segments. A typical document has 100. */
const maxNodes = 5_000;
/** Maximum number of bare ampersands. Typical documents have none or about 50. */
const maxRepairs = 2_000;

/** Number of characters to parse without a pause. This takes less than 10 ms, even before V8 has optimized the code. */
const sliceLength = 16_384;

/**
 * Parses a document from an untrusted server. Rejects documents with a DOCTYPE, so that only XML's five predefined
 * entities exist. Escapes bare ampersands, because many ad servers don't escape the URLs in their documents.
 *
 * @param pause called and awaited between two slices of a long document, so that other work can run
 * @throws VastError 100 when the document is not well-formed or exceeds a limit.
 */
export async function parseXml(text: string, pause: () => Promise<void>): Promise<XmlDocument> {
  if (text.length > maxDocumentLength) {
    throw malformed(`has ${text.length} characters; expected at most ${maxDocumentLength}`);
  }
  // Converting the text to a buffer and back replaces lone surrogates. A bid's markup may contain them, but databases
  // reject them.
  const unicode = Buffer.from(text).toString();
  const { text: wellFormed, repairs } = escapeAmpersands(unicode.trim());
  const tree = buildTree();
  for (let at = 0; at < wellFormed.length; at += sliceLength) {
    if (wellFormed.length > sliceLength) await pause();
    tree.write(wellFormed.slice(at, at + sliceLength));
  }
  return { root: tree.close(), repairs };
}

/** Returns the first child with this name. */
export const findChild = (element: XmlElement | undefined, name: string): XmlElement | undefined =>
  element?.children.find((child) => child.name === name);

/** Returns all children with this name. */
export const findChildren = (
  element: XmlElement | undefined,
  name: string,
): readonly XmlElement[] => element?.children.filter((child) => child.name === name) ?? [];

interface OpenElement {
  name: string;
  attributes: Map<string, string>;
  children: XmlElement[];
  text: string;
}

/** Builds a tree from successive slices of a document. `close` returns the root. */
function buildTree(): { write(text: string): void; close(): XmlElement } {
  const parser = new SaxesParser({ position: false });
  const document: OpenElement = { name: '', attributes: new Map(), children: [], text: '' };
  const open = [document];
  let currentAttributes = new Map<string, string>();
  let nodes = 0;
  const countNode = () => {
    nodes += 1;
    if (nodes > maxNodes) throw malformed(`has more than ${maxNodes} nodes`);
  };
  const addText = (piece: string) => {
    countNode();
    const element = open.at(-1);
    if (element) element.text += piece;
  };

  parser.on('doctype', () => {
    throw malformed('has a DOCTYPE, which is not allowed');
  });
  parser.on('opentagstart', ({ name }) => {
    countNode();
    if (open.length > maxDepth) throw malformed(`nests more than ${maxDepth} elements`);
    currentAttributes = new Map();
    open.push({ name: localName(name), attributes: currentAttributes, children: [], text: '' });
  });
  parser.on('attribute', ({ name, value }) => {
    countNode();
    currentAttributes.set(name.toLowerCase(), value);
  });
  parser.on('closetag', () => {
    const element = open.pop();
    if (!element) return;
    element.text = element.text.trim();
    open.at(-1)?.children.push(element);
  });
  parser.on('text', addText);
  parser.on('cdata', addText);
  parser.on('error', (error) => {
    throw malformed(`is not well-formed: ${error.message.slice(0, 200)}`);
  });
  return {
    write: (text) => {
      parser.write(text);
    },
    close: () => {
      parser.close();
      const [root] = document.children;
      if (!root) throw malformed('has no root element');
      return root;
    },
  };
}

const localName = (name: string): string => name.slice(name.indexOf(':') + 1);

/** Matches one of XML's five entities or a character reference, without the leading ampersand. */
const entity = /(?:amp|lt|gt|quot|apos|#\d{1,7}|#x[\da-fA-F]{1,6});/y;

/**
 * Escapes ampersands that don't start an entity. In CDATA sections, ampersands are literal and stay unchanged.
 * `replace` is not used, because it would find all matches before it could stop at the limit.
 */
function escapeAmpersands(text: string): { text: string; repairs: number } {
  const parts: string[] = [];
  let section = findCdata(text, 0);
  let [copied, repairs] = [0, 0];
  let at = text.indexOf('&');
  while (at >= 0) {
    while (section.end <= at) section = findCdata(text, section.end);
    entity.lastIndex = at + 1;
    if (section.start < at) at = section.end;
    else if (!entity.test(text)) {
      repairs += 1;
      if (repairs > maxRepairs) throw malformed(`has more than ${maxRepairs} bare ampersands`);
      parts.push(text.slice(copied, at), '&amp;');
      copied = at + 1;
    }
    at = text.indexOf('&', at + 1);
  }
  return { text: parts.join('') + text.slice(copied), repairs };
}

/**
 * Returns the next CDATA section. If the section isn't closed, `end` is infinite. If there is no section, `start` is
 * infinite too.
 */
function findCdata(text: string, from: number): { start: number; end: number } {
  const start = text.indexOf('<![CDATA[', from);
  if (start < 0) return { start: Infinity, end: Infinity };
  const end = text.indexOf(']]>', start);
  return { start, end: end < 0 ? Infinity : end };
}

const malformed = (problem: string): VastError =>
  new VastError(vastErrorCodes.xml, `The document ${problem}.`);
