import ipaddr from 'ipaddr.js';

/** One variable that the service is configured by. */
export interface Setting {
  /** What it is for, for `--help`. */
  about: string;
  /** What a value has to be, for the message that refuses one. */
  expected: string;
  valid(text: string): boolean;
  /** Taken when the variable is unset or empty. */
  fallback?: string;
  /** Its value stays out of messages, of the log and of `trueward-service config`. */
  secret?: true;
}

export const isUrlOf =
  (...protocols: string[]) =>
  (text: string): boolean =>
    URL.canParse(text) && protocols.includes(new URL(text).protocol);

/** An http or https address that anybody may read: it holds no user name and no password. */
export const isPublicUrl = (text: string): boolean =>
  isUrlOf('http:', 'https:')(text) && new URL(text).username + new URL(text).password === '';

export const anything = (): boolean => true;

export const oneOf = (...allowed: string[]): Pick<Setting, 'expected' | 'valid'> => ({
  expected: `${allowed.slice(0, -1).join(', ')} or ${allowed.at(-1)}`,
  valid: (text) => allowed.includes(text),
});

export const wholeNumber = (least: number, most: number): Pick<Setting, 'expected' | 'valid'> => ({
  expected: `a whole number from ${least} to ${most}`,
  valid: (text) => /^\d+$/.test(text) && Number(text) >= least && Number(text) <= most,
});

export const isNetwork = (text: string): boolean =>
  ['loopback', 'linklocal', 'uniquelocal'].includes(text) ||
  ipaddr.isValid(text) ||
  ipaddr.isValidCIDR(text);
