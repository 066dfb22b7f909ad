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
    const view = writeTime(bytes, clock.nowMs());
    view.setUint8(6, (view.getUint8(6) & 0x0f) | 0x70);
    view.setUint8(8, (view.getUint8(8) & 0x3f) | 0x80);
    return `${idPrefixes[kind]}_${encode(bytes)}`;
  };
}

/** What every id of this time or later comes after, and no earlier one. */
export function firstIdAt(kind: IdKind, ms: number): string {
  const bytes = new Uint8Array(16);
  writeTime(bytes, ms);
  return `${idPrefixes[kind]}_${encode(bytes)}`;
}

function writeTime(bytes: Uint8Array, ms: number): DataView {
  const view = new DataView(bytes.buffer);
  view.setUint16(0, Math.floor(ms / 2 ** 32));
  view.setUint32(2, ms % 2 ** 32);
  return view;
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
