import { SaxesParser } from 'saxes';
import { VastError, vastErrorCodes } from './vast-error.ts';

/** A parsed element. Namespace prefixes are stripped from names. */
export interface XmlElement {
  readonly name: string;
  /** Attribute values, keyed by lowercase name, because servers disagree on the case: `adId`, `AdID`, `adID`. */
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

/**
 * Maximum length in characters. Responses are limited to 256 KiB of UTF-8, so they can't contain more characters than
 * this.
 */
export const maxDocumentLength = 262_144;
/** Maximum nesting depth. VAST itself needs nine levels. */
const maxDepth = 32;
/** Maximum total number of elements, attributes and text segments. A typical document has about 100. */
const maxNodes = 5_000;
/** Maximum number of bare ampersands. A typical document has either none or about 50. */
const maxRepairs = 2_000;

/**
 * Number of characters to parse between pauses. Parsing one slice takes less than 10 ms, even before V8 has optimized
 * the code.
 */
const sliceLength = 16_384;

/**
 * Parses a document from an untrusted server. Rejects documents with a DOCTYPE, so that documents can use only XML's
 * five predefined entities. Escapes bare ampersands, because many ad servers don't escape the URLs in their documents.
 *
 * @param pause called and awaited between slices of a long document, so that other work can run
 * @throws VastError 100 when the document is not well-formed or exceeds a limit.
 */
export async function parseXml(text: string, pause: () => Promise<void>): Promise<XmlDocument> {
  if (text.length > maxDocumentLength) {
    throw createMalformedError(
      `has ${text.length} characters; expected at most ${maxDocumentLength}`,
    );
  }
  // Converting the text to a buffer and back replaces lone surrogates. A bid's markup may contain them, but databases
  // reject them.
  const unicodeText = Buffer.from(text).toString();
  const { text: wellFormedText, repairs } = escapeAmpersands(unicodeText.trim());
  const tree = createTreeBuilder();
  for (let index = 0; index < wellFormedText.length; index += sliceLength) {
    if (wellFormedText.length > sliceLength) await pause();
    tree.write(wellFormedText.slice(index, index + sliceLength));
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

/** Creates a builder that assembles a tree from successive slices of a document. `close` returns the root. */
function createTreeBuilder(): { write(text: string): void; close(): XmlElement } {
  const parser = new SaxesParser({ position: false });
  const document: OpenElement = { name: '', attributes: new Map(), children: [], text: '' };
  const openElements = [document];
  let currentAttributes = new Map<string, string>();
  let nodes = 0;
  const countNode = () => {
    nodes += 1;
    if (nodes > maxNodes) throw createMalformedError(`has more than ${maxNodes} nodes`);
  };
  const addText = (piece: string) => {
    countNode();
    const element = openElements.at(-1);
    if (element) element.text += piece;
  };

  parser.on('doctype', () => {
    throw createMalformedError('has a DOCTYPE, which is not allowed');
  });
  parser.on('opentagstart', ({ name }) => {
    countNode();
    if (openElements.length > maxDepth)
      throw createMalformedError(`nests elements more than ${maxDepth} levels deep`);
    currentAttributes = new Map();
    openElements.push({
      name: getLocalName(name),
      attributes: currentAttributes,
      children: [],
      text: '',
    });
  });
  parser.on('attribute', ({ name, value }) => {
    countNode();
    currentAttributes.set(name.toLowerCase(), value);
  });
  parser.on('closetag', () => {
    const element = openElements.pop();
    if (!element) return;
    element.text = element.text.trim();
    openElements.at(-1)?.children.push(element);
  });
  parser.on('text', addText);
  parser.on('cdata', addText);
  parser.on('error', (error) => {
    throw createMalformedError(`is not well-formed: ${error.message.slice(0, 200)}`);
  });
  return {
    write: (text) => {
      parser.write(text);
    },
    close: () => {
      parser.close();
      const [root] = document.children;
      if (!root) throw createMalformedError('has no root element');
      return root;
    },
  };
}

const getLocalName = (name: string): string => name.slice(name.indexOf(':') + 1);

/** Matches one of XML's five entities or a character reference, without the leading ampersand. */
const entityPattern = /(?:amp|lt|gt|quot|apos|#\d{1,7}|#x[\da-fA-F]{1,6});/y;

/**
 * Escapes ampersands that don't start an entity. In CDATA sections, ampersands are literal and stay unchanged.
 * `replace` is not used, because it would find every match before the limit could be enforced.
 */
function escapeAmpersands(text: string): { text: string; repairs: number } {
  const parts: string[] = [];
  let section = findCdata(text, 0);
  let [copiedEnd, repairs] = [0, 0];
  let index = text.indexOf('&');
  while (index >= 0) {
    while (section.end <= index) section = findCdata(text, section.end);
    entityPattern.lastIndex = index + 1;
    if (section.start < index) index = section.end;
    else if (!entityPattern.test(text)) {
      repairs += 1;
      if (repairs > maxRepairs)
        throw createMalformedError(`has more than ${maxRepairs} bare ampersands`);
      parts.push(text.slice(copiedEnd, index), '&amp;');
      copiedEnd = index + 1;
    }
    index = text.indexOf('&', index + 1);
  }
  return { text: parts.join('') + text.slice(copiedEnd), repairs };
}

/**
 * Returns the next CDATA section. If the section is unterminated, `end` is Infinity. If there is no section, `start`
 * and `end` are both Infinity.
 */
function findCdata(text: string, from: number): { start: number; end: number } {
  const start = text.indexOf('<![CDATA[', from);
  if (start < 0) return { start: Infinity, end: Infinity };
  const end = text.indexOf(']]>', start);
  return { start, end: end < 0 ? Infinity : end };
}

const createMalformedError = (problem: string): VastError =>
  new VastError(vastErrorCodes.xml, `The document ${problem}.`);
