import { SaxesParser } from 'saxes';
import { VastError, vastErrorCodes } from './vast-error.ts';

/** An element of a parsed document. Names carry no namespace prefix. */
export interface XmlElement {
  readonly name: string;
  /** By name in lower case: servers write `adId`, `AdID` and `adID`. */
  readonly attributes: ReadonlyMap<string, string>;
  readonly children: readonly XmlElement[];
  /** Its own text and CDATA sections, joined in order, without surrounding white space. */
  readonly text: string;
}

export interface XmlDocument {
  root: XmlElement;
  /** How many bare ampersands were escaped to make the document well-formed. */
  repairs: number;
}

/** Characters; a document that arrived as 256 kB of UTF-8 has no more than that. */
export const maxDocumentLength = 262_144;
/** VAST itself nests nine levels deep. */
const maxDepth = 32;
/** Elements, attributes, and pieces of text. A typical document has 100. */
const maxNodes = 5_000;
/** Bare ampersands. A typical document has none or 50. */
const maxRepairs = 2_000;

/**
 * Parses a document from an untrusted server. DOCTYPE is rejected, so that there are no entities but the
 * five of XML, and the limits keep the longest parse below 10 ms. Bare ampersands are repaired, because
 * many ad servers leave the URLs in their documents unescaped.
 *
 * @throws VastError 100 when the document is not well-formed or exceeds a limit.
 */
export function parseXml(text: string): XmlDocument {
  if (text.length > maxDocumentLength) {
    throw malformed(`has ${text.length} characters; at most ${maxDocumentLength} are read`);
  }
  const { text: wellFormed, repairs } = escapeAmpersands(text.trim());
  return { root: buildTree(wellFormed), repairs };
}

/** The first child with this name. */
export const childOf = (element: XmlElement | undefined, name: string): XmlElement | undefined =>
  element?.children.find((child) => child.name === name);

/** All children with this name. */
export const childrenOf = (element: XmlElement | undefined, name: string): readonly XmlElement[] =>
  element?.children.filter((child) => child.name === name) ?? [];

interface OpenElement {
  name: string;
  attributes: Map<string, string>;
  children: XmlElement[];
  text: string;
}

function buildTree(text: string): XmlElement {
  const parser = new SaxesParser({ position: false });
  const document: OpenElement = { name: '', attributes: new Map(), children: [], text: '' };
  const open = [document];
  let attributes = new Map<string, string>();
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
    throw malformed('has a DOCTYPE; VAST needs none, and it could define entities');
  });
  parser.on('opentagstart', ({ name }) => {
    countNode();
    if (open.length > maxDepth) throw malformed(`nests more than ${maxDepth} elements`);
    attributes = new Map();
    open.push({ name: localName(name), attributes, children: [], text: '' });
  });
  parser.on('attribute', ({ name, value }) => {
    countNode();
    attributes.set(name.toLowerCase(), value);
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
  parser.write(text).close();

  const [root] = document.children;
  if (!root) throw malformed('has no root element');
  return root;
}

const localName = (name: string): string => name.slice(name.indexOf(':') + 1);

const cdataStart = '<![CDATA[';
const cdataEnd = ']]>';
/** An ampersand that begins neither a character reference nor one of the five entities of XML. */
const bareAmpersand = /&(?!(?:amp|lt|gt|quot|apos|#\d{1,7}|#x[\da-f]{1,6});)/gi;

/** Only outside of CDATA sections, where an ampersand stands for itself. One pass, linear in the length. */
function escapeAmpersands(text: string): { text: string; repairs: number } {
  let repairs = 0;
  const escape = (outside: string) =>
    outside.replace(bareAmpersand, () => {
      repairs += 1;
      if (repairs > maxRepairs) throw malformed(`has more than ${maxRepairs} bare ampersands`);
      return '&amp;';
    });
  const parts: string[] = [];
  let at = 0;
  while (at < text.length) {
    const start = text.indexOf(cdataStart, at);
    const end = start < 0 ? -1 : text.indexOf(cdataEnd, start);
    if (end < 0) break;
    parts.push(escape(text.slice(at, start)), text.slice(start, end));
    at = end;
  }
  parts.push(escape(text.slice(at)));
  return { text: parts.join(''), repairs };
}

const malformed = (what: string): VastError =>
  new VastError(vastErrorCodes.xml, `The document ${what}.`);
