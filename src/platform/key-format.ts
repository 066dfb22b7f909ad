const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const format = /^(pk_(sandbox|live)_[0-9A-Za-z]{30})([0-9A-Za-z]{6})$/;

/** CRC-32 (IEEE 802.3, reflected) of ASCII text. */
const crc32 = (text: string): number => {
  let crc = 0xffffffff;
  for (let index = 0; index < text.length; index++) {
    crc ^= text.charCodeAt(index);
    for (let bit = 0; bit < 8; bit++) crc = (crc >>> 1) ^ (crc & 1 ? 0xedb88320 : 0);
  }
  return ~crc >>> 0;
};

/** The six base62 digits that end a key whose other characters are `text`. */
export const keyChecksum = (text: string): string => {
  let rest = crc32(text);
  let digits = '';
  for (let index = 0; index < 6; index++) {
    digits = alphabet.charAt(rest % 62) + digits;
    rest = Math.floor(rest / 62);
  }
  return digits;
};

/**
 * Reads a publishable key: `pk_<environment>_`, 30 random base62 characters and the checksum over all
 * before it, so that a typing error is found before any request; then it is undefined.
 */
export const environmentOf = (key: string): 'sandbox' | 'live' | undefined => {
  const [, unchecked = '', environment, checksum] = format.exec(key) ?? [];
  return keyChecksum(unchecked) === checksum ? (environment as 'sandbox' | 'live') : undefined;
};
