import { idPrefixes, type IdKind } from '@trueward/protocol';
import type { Clock } from './clock.ts';

/** Makes a prefixed, time-ordered id: `dec_01h455vb4pex5vsknk084sn02q`. */
export type MakeId = (kind: IdKind) => string;

const alphabet = '0123456789abcdefghjkmnpqrstvwxyz';

/**
 * Ids are TypeIDs: a UUIDv7 in 26 characters of Crockford base 32, so they sort by time and an
 * index grows at its end.
 */
export function createIds(clock: Clock, randomBytes: (size: number) => Uint8Array): MakeId {
  return (kind) => {
    const bytes = new Uint8Array(16);
    bytes.set(randomBytes(10), 6);
    writeTime(bytes, clock.nowMs());
    bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x70;
    bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80;
    return `${idPrefixes[kind]}_${encode(bytes)}`;
  };
}

/** What every id of this time or later comes after, and no earlier one. */
export function firstIdAt(kind: IdKind, ms: number): string {
  const bytes = new Uint8Array(16);
  writeTime(bytes, ms);
  return `${idPrefixes[kind]}_${encode(bytes)}`;
}

/** When an id was made, in unix milliseconds; 0 for a text that is none. */
export function timeOfId(id: string): number {
  const digits = id.slice(id.indexOf('_') + 1);
  let ms = 0;
  // Ten digits with two leading zero bits are the 48 bits of the time.
  for (const digit of digits.slice(0, 10)) ms = ms * 32 + alphabet.indexOf(digit);
  return digits.length === 26 && ms > 0 ? ms : 0;
}

/** Not by a DataView: asking an array for its buffer takes it out of the heap. */
function writeTime(bytes: Uint8Array, ms: number): void {
  const [high, low] = [Math.floor(ms / 2 ** 32), ms % 2 ** 32];
  bytes.set([high >>> 8, high, low >>> 24, low >>> 16, low >>> 8, low]);
}

/** 128 bits in 26 digits of 5 bits: the first digit has two leading zero bits. */
function encode(bytes: Uint8Array): string {
  let text = '';
  let pending = 0;
  let bits = 2;
  for (const byte of bytes) {
    pending = (pending << 8) | byte;
    bits += 8;
    while (bits >= 5) {
      bits -= 5;
      text += alphabet.charAt((pending >> bits) & 31);
      pending &= (1 << bits) - 1;
    }
  }
  return text;
}
