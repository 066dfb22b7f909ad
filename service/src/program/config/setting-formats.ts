import ipaddr from 'ipaddr.js';

/** A setting that configures the service. */
export interface Setting {
  /** The text for `--help`. */
  description: string;
  /** A description of valid values, for error messages. */
  expected: string;
  isValid(text: string): boolean;
  /** The default, used when the variable is unset or empty. */
  fallback?: string;
  /** Keeps the value out of messages, the log and `trueward-service config`. */
  secret?: true;
}

export const hasProtocol =
  (...protocols: string[]) =>
  (text: string): boolean =>
    URL.canParse(text) && protocols.includes(new URL(text).protocol);

/** Whether the text is an http or https URL that is safe to publish, because it contains no credentials. */
export const isPublicUrl = (text: string): boolean =>
  hasProtocol('http:', 'https:')(text) && new URL(text).username + new URL(text).password === '';

/**
 * Whether the text is the URL of an OpenID provider. Its answers are only trusted over TLS, or from this machine. It must be
 * one directory: anybody can have one at Microsoft Entra ID, and name any e-mail address in it.
 */
export function isProvider(text: string): boolean {
  if (!isPublicUrl(text)) return false;
  const { protocol, hostname, pathname } = new URL(text);
  if (protocol !== 'https:') return /^(?:localhost|127\.0\.0\.1|\[::1\])$/.test(hostname);
  return hostname !== 'login.microsoftonline.com' || entraDirectory.test(pathname);
}

/** The id or the domain of a directory, as opposed to `common` and `organizations`. */
const entraDirectory =
  /^\/(?:[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}|[\w-]+(?:\.[\w-]+)+)(?:\/|$)/i;

export const acceptAny = (): boolean => true;

export const oneOf = (...allowed: string[]): Pick<Setting, 'expected' | 'isValid'> => ({
  expected: `${allowed.slice(0, -1).join(', ')} or ${allowed.at(-1)}`,
  isValid: (text) => allowed.includes(text),
});

export const wholeNumber = (min: number, max: number): Pick<Setting, 'expected' | 'isValid'> => ({
  expected: `a whole number from ${min} to ${max}`,
  isValid: (text) => /^\d+$/.test(text) && Number(text) >= min && Number(text) <= max,
});

/** A number of days, or `forever`: keeping data without an end must be a decision. */
export const daysOrForever = (min: number, max: number): Pick<Setting, 'expected' | 'isValid'> => ({
  expected: `${wholeNumber(min, max).expected}, or forever`,
  isValid: (text) => text === 'forever' || wholeNumber(min, max).isValid(text),
});

export const isNetwork = (text: string): boolean =>
  ['loopback', 'linklocal', 'uniquelocal'].includes(text) ||
  ipaddr.isValid(text) ||
  ipaddr.isValidCIDR(text);

export const rateFormat = {
  expected: 'requests per second and burst, such as 100/500, each from 1 to 1000000',
  isValid: (text: string) =>
    /^\d+\/\d+$/.test(text) &&
    text.split('/').every((part) => Number(part) >= 1 && Number(part) <= 1_000_000),
};
