import ipaddr from 'ipaddr.js';

/** A configuration variable of the service. */
export interface Setting {
  /** What it is for, for `--help`. */
  about: string;
  /** What a valid value looks like, for error messages. */
  expected: string;
  valid(text: string): boolean;
  /** The default, used when the variable is unset or empty. */
  fallback?: string;
  /** Keeps the value out of messages, the log and `trueward-service config`. */
  secret?: true;
}

export const isUrlOf =
  (...protocols: string[]) =>
  (text: string): boolean =>
    URL.canParse(text) && protocols.includes(new URL(text).protocol);

/** An http or https URL that is safe to publish: it contains no credentials. */
export const isPublicUrl = (text: string): boolean =>
  isUrlOf('http:', 'https:')(text) && new URL(text).username + new URL(text).password === '';

export const anything = (): boolean => true;

export const oneOf = (...allowed: string[]): Pick<Setting, 'expected' | 'valid'> => ({
  expected: `${allowed.slice(0, -1).join(', ')} or ${allowed.at(-1)}`,
  valid: (text) => allowed.includes(text),
});

export const wholeNumber = (min: number, max: number): Pick<Setting, 'expected' | 'valid'> => ({
  expected: `a whole number from ${min} to ${max}`,
  valid: (text) => /^\d+$/.test(text) && Number(text) >= min && Number(text) <= max,
});

export const isNetwork = (text: string): boolean =>
  ['loopback', 'linklocal', 'uniquelocal'].includes(text) ||
  ipaddr.isValid(text) ||
  ipaddr.isValidCIDR(text);
