import { hash } from 'node:crypto';

/** Makes the HMAC-SHA256 of a text, as base64url. */
export type Mac = (text: string) => string;

const blockSize = 64;
const digestSize = 32;

/**
 * HMAC by its definition (RFC 2104) over the one-shot hash: `createHmac` makes an object and two
 * streams for each text, which takes more than twice the time. A key in ASCII gives a first block in
 * ASCII, so that it and the text are hashed as one text, which is quicker to hand over than bytes.
 *
 * @param key - at most 64 characters of ASCII
 * @throws Error for any other key
 */
export function createMac(key: string): Mac {
  if (!/^[\0-\x7f]{0,64}$/.test(key))
    throw new Error('The key of a MAC is at most 64 characters of ASCII.');
  const padded = Buffer.alloc(blockSize);
  padded.write(key, 'latin1');
  const inner = Buffer.from(padded.map((byte) => byte ^ 0x36)).toString('latin1');
  const outer = Buffer.concat([padded.map((byte) => byte ^ 0x5c), Buffer.alloc(digestSize)]);
  return (text) => {
    outer.write(hash('sha256', inner + text, 'binary'), blockSize, 'latin1');
    return hash('sha256', outer, 'base64url');
  };
}
