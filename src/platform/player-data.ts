import { attempt, toList } from './guard.ts';
import { warnOnce } from './warn.ts';

/** Data about the player that a game passes on, often without knowing what it contains. */
export interface PlayerData<Token> {
  userRef?: string;
  userToken?: Token;
  customData?: string;
  segments?: string[];
}

/** Whether the service accepts the value. */
const isUserRef = (value: unknown): value is string =>
  typeof value === 'string' && /^[\x20-\x7e]{1,128}$/.test(value);
const isUserToken = (value: unknown): boolean =>
  typeof value === 'function' || (typeof value === 'string' && /^[\w.-]{1,4096}$/.test(value));
/** A text that was cut in the middle of an emoji contains half of a pair, which the service can’t store. */
export const isCustomData = (value: unknown): boolean =>
  typeof value === 'string' && /^[^\0\p{Surrogate}]{0,1024}$/u.test(value);
export const isSegment = (value: unknown): boolean =>
  typeof value === 'string' && /^[^\0\p{Surrogate}]{1,64}$/u.test(value);
export const maxSegments = 20;

/** Games pass these values if they don’t know the player. */
const isAbsent = (value: unknown): boolean => value === undefined || value === null || value === '';

/** Returns the id in a form that the service accepts, or `undefined` if there is none. */
function cleanUserRef(value: unknown): string | undefined {
  if (isAbsent(value)) return undefined;
  if (isUserRef(value)) return value;
  if (typeof value === 'number' || typeof value === 'bigint') return String(value);
  const encoded =
    typeof value === 'string'
      ? attempt(() => value.replace(/[^\x20-\x7e]/gu, encodeURIComponent))
      : undefined;
  if (!isUserRef(encoded)) {
    warnOnce(
      '`userRef` must be 1 to 128 printable ASCII characters, so this player is anonymous and can’t earn rewards. Pass your own id, not a name.',
    );
    return undefined;
  }
  warnOnce(
    `\`userRef\` must be printable ASCII, so it is sent percent-encoded, as ${encoded}. Pass your own id, not a name.`,
  );
  return encoded;
}

function cleanSegments(value: unknown): string[] {
  const valid = Array.isArray(value) ? toList(new Set<unknown>(value)).filter(isSegment) : [];
  const segments = valid.slice(0, maxSegments) as string[];
  if (!Array.isArray(value) || segments.length < value.length)
    warnOnce(
      '`segments` must be at most 20 different strings of 1 to 64 characters, so others are left out.',
    );
  return segments;
}

/**
 * Returns the data in a form that the service accepts. What comes from players must never stop a game, so a value that
 * can't be used is left out, and the developer gets a warning.
 */
export function cleanPlayerData<Options extends PlayerData<unknown>>(options: Options): Options {
  const { customData, segments, userRef, userToken, ...rest } = options;
  const hasToken = !isAbsent(userToken);
  const ref = cleanUserRef(userRef);
  const cleaned: PlayerData<unknown> = {};
  if (hasToken && !isUserToken(userToken)) {
    // The id without its signature would prove nothing, so it is left out too.
    warnOnce(
      '`userToken` must be from `signUserToken()`, so this player is anonymous and can’t earn rewards.',
    );
  } else {
    if (ref !== undefined) cleaned.userRef = ref;
    if (hasToken) cleaned.userToken = userToken;
  }
  if (isCustomData(customData)) cleaned.customData = customData as string;
  else if (!isAbsent(customData))
    warnOnce('`customData` must be a string of at most 1,024 whole characters, so it is left out.');
  if (!isAbsent(segments)) cleaned.segments = cleanSegments(segments);
  return { ...rest, ...cleaned } as Options;
}
