import type { DecisionRequest } from '../protocol/wire.ts';
import type { OverlayStrings } from './creative/strings.ts';
import type { EngineDriver } from './engine/engine-driver.ts';
import type { OptionErrorCode, Reward } from './outcome.ts';
import { findPortal, type PortalName } from './platform/find-portal.ts';
import { attempt } from './platform/guard.ts';
import { listen } from './platform/native.ts';
import { type KeyParts, parseKey } from './platform/key-format.ts';
import type { PortalAdapter } from './portal/adapter.ts';
import { cleanPlayerData, isCustomData, isSegment, maxSegments } from './platform/player-data.ts';

/** An outcome that can be simulated in the sandbox. */
export type Simulation = NonNullable<DecisionRequest['simulate']>;

/** The player’s consent. Anything left unspecified is treated as restricted. */
export interface ConsentOptions {
  status: 'granted' | 'denied' | 'unknown';
  /** The IAB TCF string from the page’s consent dialog. */
  tcfString?: string;
  /** The IAB GPP string from the page’s consent dialog. */
  gppString?: string;
}

/** A signed user token, or a function that returns one; see {@link AdsOptions.userToken}. */
export type UserToken = string | (() => string | Promise<string>);

/** Options for one ad request. Each of them overrides the `createAds()` option of the same name. */
export interface RequestOptions {
  /** Passed through to the `decision.rewarded` webhook; at most 1,024 characters. */
  customData?: string;
  /** The player’s segments, which the operator’s policies can use. At most 20 segments of 1 to 64 characters each. */
  segments?: string[];
}

/** Options for `createAds()`. Only the first two are required. */
export interface AdsOptions extends RequestOptions {
  /** `pk_sandbox_…` or `pk_live_…`. */
  publishableKey: string;
  /** The URL of the service: `https://play.example.com`. */
  serviceUrl: string;
  /**
   * The portal that the page belongs to. Its ads are then the only ones: no request is sent, and none of your own ads is
   * shown. `'auto'` finds the portal, or uses the service as usual if there is none. For a portal that the SDK doesn’t
   * know, pass an adapter. Default: `false`, none.
   */
  portal?: PortalName | 'auto' | PortalAdapter | false;
  /**
   * What each rewarded placement earns on a portal, which has no service to say so. Such rewards have the evidence
   * `client_attested`.
   */
  portalRewards?: Record<string, Reward>;
  /** The portal’s own ids of placements, where they differ from yours, as on Facebook. */
  portalPlacements?: Record<string, string>;
  /**
   * Ad SDKs in your own page that may show their ads if the service decides so: Google’s H5 ads, and adapters of your own.
   * They are ignored on a portal. Default: none.
   */
  pageAds?: readonly ('google_h5' | PortalAdapter)[];
  /**
   * Your own id for the player: 1 to 128 printable ASCII characters. Required for rewarded ads. Other characters are
   * sent percent-encoded.
   */
  userRef?: string;
  /**
   * The player’s id, signed by your own server with `signUserToken` from `trueward/server`, so that no client can
   * impersonate another player. Pass it instead of `userRef`, or with the same id. A function is called for each
   * request, so that a game left running for hours never sends an expired token. The function may return a promise,
   * which must settle within `loadTimeoutMs`. If the function fails, the request ends with the outcome `error` and the
   * reason `user_token_failed`. If it takes too long, the outcome is `timeout` and the reason is `load_timeout`.
   */
  userToken?: UserToken;
  /**
   * The player’s consent, or `'page'` to read it from the page’s consent framework (IAB TCF or GPP). With `'page'`,
   * nothing is sent until the player has chosen, and calls return `not_ready`. Default: restricted.
   */
  consent?: ConsentOptions | 'page';
  /**
   * Whether the game is directed at children. If so, `userRef`, `customData` and `segments` never leave the device, and
   * ads are not targeted. Your server then credits rewards based on their receipts. Default: `false`.
   */
  childDirected?: boolean;
  /** Language for the overlay and the ad request, as a BCP 47 tag. Default: the browser’s language. */
  locale?: string;
  /** Overrides strings in the overlay, for example `{ learnMore: 'Play now' }`. */
  strings?: Partial<OverlayStrings>;
  /** Whether ads start muted; the player can unmute them with a button. Default: `false`. */
  muted?: boolean;
  /**
   * Pauses and resumes your game, and runs callbacks in its frames. Default: `noEngine()`, the driver for pages without
   * an engine.
   */
  engine?: EngineDriver;
  /**
   * Whether the game keeps running behind its ads, as a multiplayer game must. The SDK then blocks only input. Mute the
   * game in `open` and `close`. Default: `false`.
   */
  keepRunning?: boolean;
  /** Combined timeout for requesting and loading an ad, in milliseconds. Default: 8,000. */
  loadTimeoutMs?: number;
  /**
   * How long `showRewarded()` waits for the confirmation before it returns `pending`, in milliseconds. Default: 3,000.
   */
  confirmationTimeoutMs?: number;
  /**
   * Logs requests, ad breaks and rewards to the console, one line each. The code is loaded on demand. Default: `false`.
   */
  debug?: boolean;
  /** Replaces the browser’s `fetch`, for example to inject faults. */
  fetch?: typeof globalThis.fetch;
}

/** Options for `createAds()` in a build for one portal, which needs neither a key nor a service. */
export interface PortalAdsOptions extends Omit<AdsOptions, 'publishableKey' | 'serviceUrl'> {
  portal: PortalName | PortalAdapter;
  publishableKey?: string;
  serviceUrl?: string;
}

/** The options that describe the player, for `createAds()` and `ads.setUser()`. */
export type UserOptions = Pick<AdsOptions, 'userRef' | 'userToken' | 'customData' | 'segments'>;

/** {@link AdsOptions} with its defaults filled in. */
export interface CheckedOptions extends Omit<AdsOptions, 'portal'>, KeyParts {
  publishableKey: string;
  serviceUrl: string;
  portal: PortalName | PortalAdapter | undefined;
  locale: string;
  loadTimeoutMs: number;
  confirmationTimeoutMs: number;
}

/** Thrown immediately for invalid options, before any request is sent. */
export class OptionError extends Error {
  override readonly name = 'OptionError';
  readonly code: OptionErrorCode;

  constructor(code: OptionErrorCode, message: string) {
    super(`trueward: ${message}`);
    this.code = code;
  }
}

type Check = (value: unknown) => string | false;

const matches =
  (pattern: RegExp, expected: string): Check =>
  (value) =>
    !(typeof value === 'string' && pattern.test(value)) && expected;

const httpUrl: Check = (value) => {
  const expected = 'an http(s) URL';
  try {
    new URL(value as string);
  } catch {
    return expected;
  }
  return matches(/^https?:\/\/[^/]/, expected)(value);
};

const milliseconds: Check = (value) =>
  !(typeof value === 'number' && value >= 0 && value <= 60_000) && 'milliseconds from 0 to 60,000';

const ofType =
  (type: 'boolean' | 'function' | 'object'): Check =>
  (value) =>
    (typeof value !== type || value === null) && `of type ${type}`;

const consentShape = "{ status: 'granted' | 'denied' | 'unknown' }";
const consent: Check = (value) =>
  !/^(granted|denied|unknown)$/.test(String((value as ConsentOptions | null)?.status)) &&
  consentShape;

const outcomes: Simulation[] = [
  'no_fill',
  'blocked',
  'killed',
  'slow',
  'error',
  'reward_denied',
  'reward_pending',
];
const simulation: Check = (value) =>
  !outcomes.includes(value as Simulation) && `${outcomes.join(', ')} or omitted`;

/** For options that only {@link playerOptions} lists. */
const anything: Check = () => false;

/** One check per option. A check returns `false` for a valid value, or a description of the expected value. */
const checks: Record<keyof AdsOptions, Check> = {
  publishableKey: matches(/^/, 'a publishable key'),
  serviceUrl: httpUrl,
  // The code for portals checks these, because it is loaded only with them.
  portal: anything,
  portalRewards: anything,
  portalPlacements: anything,
  pageAds: anything,
  userRef: anything,
  userToken: anything,
  customData: (value) => !isCustomData(value) && 'a string of at most 1,024 characters',
  consent: (value) => value !== 'page' && consent(value) && `${consentShape} or 'page'`,
  childDirected: ofType('boolean'),
  segments: (value) =>
    !(
      Array.isArray(value) &&
      value.length <= maxSegments &&
      new Set(value).size === value.length &&
      value.every(isSegment)
    ) && 'at most 20 different strings of 1 to 64 characters',
  locale: anything,
  strings: ofType('object'),
  muted: ofType('boolean'),
  engine: ofType('object'),
  keepRunning: ofType('boolean'),
  loadTimeoutMs: milliseconds,
  confirmationTimeoutMs: milliseconds,
  debug: ofType('boolean'),
  fetch: ofType('function'),
};

function describeInvalidOption(
  name: string,
  value: unknown,
  check: Check = checks[name as keyof AdsOptions],
): string | undefined {
  const expected = value !== undefined && check(value);
  if (!expected) return undefined;
  const actual =
    typeof value === 'string' ? JSON.stringify(value.slice(0, 40)) : typeof (value ?? undefined);
  return `the option \`${name}\` must be ${expected}; got ${actual}.`;
}

/**
 * Copies an object of options. The copy has no prototype, so properties that the page has added to every object are not
 * taken for options.
 */
export const copyOptions = <Options>(options: Options): Options =>
  typeof options === 'object' && options !== null
    ? (Object.assign(Object.create(null), options) as Options)
    : options;

/** Returns the error message for a call's invalid options, or `undefined` if they are valid. */
export function findCallError(
  options: RequestOptions & Pick<AdsOptions, 'muted'> & { signal?: AbortSignal },
): string | undefined {
  if (typeof options !== 'object' || options === null) return 'options must be an object.';
  const { signal } = options;
  // Only a signal of the browser's own has listeners that this code can add.
  const stop = signal && attempt(() => listen(signal, 'abort', () => undefined));
  if (signal && !stop) return '`signal` must be an AbortSignal.';
  stop?.();
  return (['customData', 'segments', 'muted'] as const)
    .map((name) => describeInvalidOption(name, options[name]))
    .find(Boolean);
}

function fail(code: OptionErrorCode, message: string): never {
  throw new OptionError(code, message);
}

function throwIfInvalid(message: string | undefined): void {
  if (message) fail('option_invalid', message);
}

function checkKey(key: string): KeyParts {
  if (/^(?:sk_|whsec_)/.test(key)) {
    fail(
      'secret_key_in_browser',
      'a secret key is exposed on this page: rotate it now, and use the publishable key (`pk_…`).',
    );
  }
  return (
    parseKey(key) ??
    fail(
      'key_malformed',
      `not a valid publishable key: expected \`pk_sandbox_…\` or \`pk_live_…\`, got ${key.length} characters ` +
        `starting with \`${key.slice(0, 11)}\`. Copy it again.`,
    )
  );
}

/**
 * Options whose values may come from players. They never make a call throw: what can't be used is left out
 * (`cleanPlayerData()`), and every locale leads to a language (`toLanguageTag()`).
 */
const playerOptions = new Set(['userRef', 'userToken', 'customData', 'segments', 'locale']);

function checkEveryOption(options: object, allowed: string[]): void {
  for (const [name, value] of Object.entries(options) as [keyof AdsOptions, unknown][]) {
    if (!allowed.includes(name))
      fail('option_unknown', `unknown option \`${name}\`; expected one of ${allowed.join(', ')}.`);
    if (!playerOptions.has(name)) throwIfInvalid(describeInvalidOption(name, value));
  }
}

/**
 * Checks the options passed to `setUser()`, and returns those that can be used.
 *
 * @throws OptionError for an unknown option.
 */
export function checkUser(user: UserOptions): UserOptions {
  if (!((user as unknown) instanceof Object))
    fail('option_invalid', 'setUser() expects an object; pass `{}` for an anonymous player.');
  checkEveryOption(user, ['userRef', 'userToken', 'customData', 'segments']);
  return cleanPlayerData(user);
}

/**
 * Validates the argument passed to `setConsent()`.
 *
 * @throws OptionError for anything other than a consent object. `'page'` is only valid in `createAds()`.
 */
export function checkConsent(value: ConsentOptions): void {
  throwIfInvalid(describeInvalidOption('consent', value ?? null, consent));
}

/**
 * Validates the argument passed to `simulate()`.
 *
 * @throws OptionError for an unknown outcome.
 */
export function checkSimulation(outcome: Simulation | undefined): void {
  throwIfInvalid(describeInvalidOption('simulate', outcome, simulation));
}

/**
 * Checks the options and fills in the defaults.
 *
 * @throws OptionError for a missing, unknown or invalid option, and for a secret key.
 */
export function checkOptions(givenOptions: AdsOptions | PortalAdsOptions): CheckedOptions {
  const options = copyOptions(givenOptions);
  const given = (options as AdsOptions | undefined)?.portal;
  const portal = given === 'auto' ? findPortal() : given || undefined;
  for (const name of ['publishableKey', 'serviceUrl'] as const) {
    if (!portal && (options as AdsOptions | undefined)?.[name] === undefined)
      fail('option_missing', `the option \`${name}\` is missing.`);
  }
  checkEveryOption(options, Object.keys(checks));
  // A portal may serve many games from one origin, so without a key, a game is known by its page.
  const gameId = globalThis.location?.pathname;
  const { publishableKey, serviceUrl = 'http://portal' } = options;
  return copyOptions({
    ...cleanPlayerData(options),
    publishableKey: publishableKey as string,
    portal,
    serviceUrl: serviceUrl.replace(/\/+$/, ''),
    ...(publishableKey === undefined ? { environment: 'live', gameId } : checkKey(publishableKey)),
    locale: toLanguageTag((options.locale as unknown) ?? globalThis.navigator?.language ?? 'en'),
    loadTimeoutMs: options.loadTimeoutMs ?? 8_000,
    confirmationTimeoutMs: options.confirmationTimeoutMs ?? 3_000,
  });
}

/**
 * Returns a valid language tag for whatever a player's device or account reports: `de-AT` for `de_AT.UTF-8`, and `en` for
 * `C` or an empty string.
 */
export function toLanguageTag(locale: unknown): string {
  const tag = String(locale)
    .trim()
    .replace(/[.@].*$/s, '')
    .replaceAll('_', '-');
  return (tag.length <= 35 && attempt(() => new Intl.Locale(tag).toString())) || 'en';
}
