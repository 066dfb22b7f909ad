const keyPattern = /^(pk_(sandbox|live)_([0-9A-Za-z]{10})_[0-9A-Za-z]{20})([0-9A-Za-z]{6})$/;

/** Computes a CRC-32 (IEEE 802.3, reflected) of ASCII text. Other text gets a checksum too, but no standard one. */
export const crc32 = (text: string): number => {
  let crc = 0xffffffff;
  for (let index = 0; index < text.length; index++) {
    crc ^= text.charCodeAt(index);
    for (let bit = 0; bit < 8; bit++) crc = (crc >>> 1) ^ (crc & 1 ? 0xedb88320 : 0);
  }
  return ~crc >>> 0;
};

/** Encodes 0 to 61 as one base62 digit: 0–9, A–Z, a–z. */
const toDigit = (value: number): string =>
  String.fromCharCode(value + (value < 10 ? 48 : value < 36 ? 55 : 61));

/** Computes a key's checksum, six base62 digits, from its other characters. */
export const keyChecksum = (text: string): string => {
  let remaining = crc32(text);
  let digits = '';
  for (let index = 0; index < 6; index++) {
    digits = toDigit(remaining % 62) + digits;
    remaining = Math.floor(remaining / 62);
  }
  return digits;
};

/** What a publishable key says about itself. */
export interface KeyParts {
  environment: 'sandbox' | 'live';
  /** Identifies the game. A key that was rolled has the same id as the key that it replaces. */
  gameId: string;
}

/**
 * Parses a publishable key. Returns undefined if the key is malformed. A key consists of `pk_<environment>_<game id>_`,
 * 20 random base62 characters and a checksum. The checksum detects typos before any request is sent.
 */
export const parseKey = (key: string): KeyParts | undefined => {
  const [, body = '', environment, gameId = '', checksum] = keyPattern.exec(key) ?? [];
  return keyChecksum(body) === checksum
    ? { environment: environment as KeyParts['environment'], gameId }
    : undefined;
};
