import { describe, expect, it, vi } from 'vitest';
import { type AdsOptions, checkOptions, checkUser, OptionError } from '../../src/options.ts';
import { findPortal } from '../../src/platform/find-portal.ts';
import { keyChecksum } from '../../src/platform/key-format.ts';

const createKey = (prefix: string): string => {
  const unchecked = `${prefix}0123456789_${'0aB9'.repeat(5)}`;
  return unchecked + keyChecksum(unchecked);
};
const validOptions: AdsOptions = {
  publishableKey: createKey('pk_sandbox_'),
  serviceUrl: 'https://play.example/',
};

const catchError = (options: unknown): OptionError => {
  try {
    checkOptions(options as AdsOptions);
  } catch (error) {
    if (error instanceof OptionError) return error;
    throw error;
  }
  throw new Error('The options were accepted.');
};

describe('checkOptions', () => {
  it('fills in the defaults and reads the environment from the key', () => {
    expect(checkOptions(validOptions)).toMatchObject({
      environment: 'sandbox',
      serviceUrl: 'https://play.example',
      loadTimeoutMs: 8_000,
      confirmationTimeoutMs: 3_000,
    });
    expect(
      checkOptions({ ...validOptions, publishableKey: createKey('pk_live_') }).environment,
    ).toBe('live');
  });

  it.each([createKey('sk_live_'), createKey('sk_sandbox_'), 'sk_typing error', 'whsec_abc'])(
    'rejects the secret %s without repeating it, and tells the developer to rotate it',
    (secret) => {
      const error = catchError({ ...validOptions, publishableKey: secret });
      expect(error.code).toBe('secret_key_in_browser');
      expect(error.message).toMatch(/rotate it now/);
      expect(error.message).not.toContain(secret);
    },
  );

  it('detects a single wrong character in a key', () => {
    const typo = validOptions.publishableKey.replace('0aB9', '0aC9');
    expect(catchError({ ...validOptions, publishableKey: typo }).code).toBe('key_malformed');
  });

  it.each([
    [undefined, 'option_missing', /publishableKey/],
    [{}, 'option_missing', /publishableKey/],
    [{ publishableKey: validOptions.publishableKey }, 'option_missing', /serviceUrl/],
    [{ ...validOptions, userref: 'a' }, 'option_unknown', /userref.*userRef/],
    [
      { ...validOptions, serviceUrl: 'play.example' },
      'option_invalid',
      /serviceUrl.*"play.example"/,
    ],
    [{ ...validOptions, serviceUrl: 'https://ads example' }, 'option_invalid', /serviceUrl/],
    [{ ...validOptions, serviceUrl: 'http://localhost:70000' }, 'option_invalid', /serviceUrl/],
    [{ ...validOptions, consent: 'yes' }, 'option_invalid', /granted/],
    [{ ...validOptions, loadTimeoutMs: -1 }, 'option_invalid', /milliseconds/],
    [{ ...validOptions, engine: null }, 'option_invalid', /object/],
    [{ ...validOptions, muted: 'yes' }, 'option_invalid', /of type boolean; got "yes"/],
    [{ ...validOptions, publishableKey: 7 }, 'option_invalid', /publishableKey/],
    [{ portal: 'poki', publishableKey: 'pk' }, 'key_malformed', /publishable key/],
    // On its own site, a game needs the service.
    [{ portal: 'auto' }, 'option_missing', /publishableKey/],
    [{ portal: false }, 'option_missing', /publishableKey/],
  ])('explains what is wrong with %j', (options, code, message) => {
    const error = catchError(options);
    expect(error.code).toBe(code);
    expect(error.message).toMatch(message);
  });
});

describe('the option `portal`', () => {
  it('makes the key and the service optional', () => {
    class Adapter {
      name = 'mine';
      load(): void {}
      show(): Promise<'no_fill'> {
        return Promise.resolve('no_fill');
      }
    }
    expect(checkOptions({ portal: 'poki' })).toMatchObject({ portal: 'poki', environment: 'live' });
    expect(checkOptions({ portal: new Adapter() }).portal).toBeInstanceOf(Adapter);
    expect(checkOptions({ ...validOptions, portal: false }).portal).toBeUndefined();
    expect(checkOptions({ ...validOptions, portal: 'auto' }).portal).toBeUndefined();
  });

  it.each<[object, string | undefined]>([
    [{ location: { host: 'bubbles.game-files.crazygames.com' } }, 'crazygames'],
    [{ location: { host: '0a1b.poki-gdn.com' } }, 'poki'],
    [{ location: { host: 'html5.gamedistribution.com' } }, 'gamedistribution'],
    [{ location: { host: 'app-1.games.s3.yandex.net' } }, 'yandex'],
    [
      {
        location: {
          host: 'x.scf.usercontent.goog',
          ancestorOrigins: ['https://www.youtube.com'],
        },
      },
      'youtube',
    ],
    [{ location: { host: 'apps-1.apps.fbsbx.com' }, FBInstant: {} }, 'facebook'],
    [{ location: { host: 'games.example' }, GameSnacks: {} }, 'gamesnacks'],
    [{ location: { host: 'x.scf.usercontent.goog' }, ytgame: {} }, 'youtube'],
    // The page's own address counts more than a script that it has loaded.
    [{ location: { host: 'poki.com', ancestorOrigins: [] }, FBInstant: {} }, 'poki'],
    [{ location: { host: 'mypoki.example', ancestorOrigins: [] } }, undefined],
    [{ location: { host: 'play.example', ancestorOrigins: [] }, adBreak() {} }, undefined],
  ])('finds the portal of the page %j', (globals, expected) => {
    for (const [name, value] of Object.entries(globals)) vi.stubGlobal(name, value);
    expect(findPortal()).toBe(expected);
  });
});

describe('data that comes from players', () => {
  const none = { userRef: undefined, userToken: undefined };
  it.each<[string, object, object, RegExp?]>([
    ['a name', { userRef: 'Zoë' }, { userRef: 'Zo%C3%AB' }, /percent-encoded/],
    ['a number', { userRef: 42 }, { userRef: '42' }],
    ['no id', { userRef: null }, none],
    ['an empty id', { userRef: '' }, none],
    ['a lone surrogate', { userRef: '\uD800' }, none, /anonymous/],
    ['a long id', { userRef: 'x'.repeat(129) }, none, /1 to 128/],
    ['an object', { userRef: {} }, none, /anonymous/],
    ['a wrong token', { userRef: 'a', userToken: 'no token!' }, none, /signUserToken/],
    ['no token', { userRef: 'a', userToken: null }, { userRef: 'a', userToken: undefined }],
    ['long custom data', { customData: 'x'.repeat(1_025) }, {}, /1,024/],
    ['structured custom data', { customData: {} }, {}, /string/],
    ['wrong segments', { segments: {} }, { segments: [] }, /at most 20/],
    [
      'texts that were cut in the middle of an emoji',
      { segments: ['a', '\ud83d'] },
      { segments: ['a'] },
      /at most/,
    ],
    ['some wrong segments', { segments: ['a', 7, '', 'a', 'b'] }, { segments: ['a', 'b'] }],
    ['a strange locale', { locale: 7 }, {}],
  ])('never stops the game: %s', async (_, data, expected, warning) => {
    // Each message is written once per page.
    vi.resetModules();
    const { checkOptions: check, checkUser: checkNext } = await import('../../src/options.ts');
    const warn = vi.spyOn(console, 'warn').mockImplementation(() => {});
    const { userRef, userToken, customData, segments } = check({ ...validOptions, ...data });
    const known = { ...none, customData: undefined, segments: undefined };
    expect({ userRef, userToken, customData, segments }).toEqual({ ...known, ...expected });
    if (!('locale' in data)) expect(() => checkNext(data)).not.toThrow();
    const warnings = warn.mock.calls.map(([message]) => String(message));
    if (warning) expect(warnings).toEqual([expect.stringMatching(warning)]);
  });

  it('accepts the longest data, without a word', async () => {
    vi.resetModules();
    const { checkOptions: check, findCallError } = await import('../../src/options.ts');
    const warn = vi.spyOn(console, 'warn').mockImplementation(() => {});
    const longest = {
      customData: 'x'.repeat(1_024),
      segments: Array.from({ length: 20 }, (_, index) => String(index).padStart(64, 'x')),
    };
    const withPlayer = { userRef: 'x'.repeat(128), ...longest };
    expect(check({ ...validOptions, ...withPlayer })).toMatchObject(withPlayer);
    expect(warn).not.toHaveBeenCalled();
    expect(findCallError(longest)).toBeUndefined();
    expect(findCallError({ segments: [...longest.segments, 'x'] })).toMatch(/at most 20/);
    expect(findCallError({ customData: `${longest.customData}x` })).toMatch(/at most 1,024/);
  });

  it('still rejects an unknown option for the player', () => {
    expect(() => checkUser({ userref: 'a' } as never)).toThrow(/userref.*userRef/);
  });
});
