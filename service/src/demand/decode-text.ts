/** How much of a document is searched for its XML declaration. */
const declarationBytes = 256;

/**
 * Decodes a document in the encoding that it declares: by a byte order mark, by the charset of its `Content-Type`, or in
 * its XML declaration, in this order (RFC 7303, 3). The default is UTF-8.
 *
 * @returns undefined if the encoding is unknown, or if the document is not in it; otherwise, its URLs would be wrong
 */
export function decodeText(body: Buffer, contentType: string | undefined): string | undefined {
  const label =
    readByteOrderMark(body) ??
    /;\s*charset\s*=\s*"?([\w.:-]{1,40})/i.exec(contentType?.slice(0, 500) ?? '')?.[1] ??
    readXmlEncoding(body) ??
    'utf-8';
  try {
    return new TextDecoder(label, { fatal: true }).decode(body);
  } catch {
    return undefined;
  }
}

function readByteOrderMark(body: Buffer): string | undefined {
  if (body[0] === 0xef && body[1] === 0xbb && body[2] === 0xbf) return 'utf-8';
  if (body[0] === 0xfe && body[1] === 0xff) return 'utf-16be';
  return body[0] === 0xff && body[1] === 0xfe ? 'utf-16le' : undefined;
}

/** Reads the XML declaration, whose characters are ASCII in every encoding. */
function readXmlEncoding(body: Buffer): string | undefined {
  const start = body.subarray(0, declarationBytes);
  // Without a byte order mark, the zero bytes show the byte order (XML 1.0, appendix F).
  if (start[0] === 0 && start[1] === 0x3c) return 'utf-16be';
  if (start[0] === 0x3c && start[1] === 0) return 'utf-16le';
  const declared = /^\s*<\?xml[^>]*?\sencoding\s*=\s*["']([\w.:-]{1,40})["']/i.exec(
    start.toString('latin1'),
  )?.[1];
  // A document whose declaration can be read byte by byte is not in UTF-16, whatever it says.
  return declared !== undefined && /^utf-?16/i.test(declared) ? 'utf-8' : declared;
}
