import { expect, test } from 'vitest';
import { decodeText } from '../../src/demand/decode-text.ts';

const xml = (encoding: string): string => `<?xml version="1.0" encoding="${encoding}"?><U>é</U>`;
const bigEndian = (text: string): Buffer => Buffer.from(text, 'utf16le').swap16();
const windows = (text: string): Buffer => Buffer.from(text, 'latin1');

test.each([
  ['UTF-8 without a declaration', Buffer.from('<U>é€</U>'), undefined, '<U>é€</U>'],
  [
    'UTF-8 with a byte order mark',
    Buffer.from('\uFEFF<U>é</U>'),
    'text/xml; charset=latin1',
    '<U>é</U>',
  ],
  ['ISO-8859-1 in the declaration', windows(xml('ISO-8859-1')), 'text/xml', xml('ISO-8859-1')],
  ['windows-1252 in the declaration', windows(xml('windows-1252')), undefined, xml('windows-1252')],
  [
    'ISO-8859-1 in the header',
    Buffer.from('<U>é</U>', 'latin1'),
    'application/xml; charset=ISO-8859-1',
    '<U>é</U>',
  ],
  [
    'a header that contradicts the declaration',
    Buffer.from(xml('ISO-8859-1')),
    'text/xml; charset="utf-8"',
    xml('ISO-8859-1'),
  ],
  [
    'UTF-16 with a byte order mark',
    Buffer.from(`\uFEFF${xml('UTF-16')}`, 'utf16le'),
    undefined,
    xml('UTF-16'),
  ],
  ['big-endian UTF-16', bigEndian(`\uFEFF${xml('UTF-16')}`), 'text/xml', xml('UTF-16')],
  [
    'UTF-16 without a byte order mark',
    Buffer.from(xml('UTF-16'), 'utf16le'),
    undefined,
    xml('UTF-16'),
  ],
  ['UTF-8 that claims to be UTF-16', Buffer.from(xml('utf-16')), undefined, xml('utf-16')],
  ['bytes that are not UTF-8', Buffer.from('<U>é</U>', 'latin1'), undefined, undefined],
  ['an unknown encoding', Buffer.from(xml('ebcdic-xx')), undefined, undefined],
  ['an empty document', Buffer.alloc(0), undefined, ''],
])('%s', (_name, body, contentType, expected) => {
  expect(decodeText(body, contentType)).toBe(expected);
});
