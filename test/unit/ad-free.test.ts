import { expect, test } from 'vitest';
import type { CheckedOptions, UserToken } from '../../src/options.ts';
import { createPlayerContext } from '../../src/player-context.ts';
import { signUserToken } from '../../src/server/index.ts';
import { createManualClock } from '../support/manual-clock.ts';

const encode = (value: unknown): string =>
  btoa(JSON.stringify(value)).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '');
const createToken = (claims: unknown): string => `e30.${encode(claims)}.x`;
const createContext = (userToken?: UserToken) => {
  const options: Partial<CheckedOptions> = userToken === undefined ? {} : { userToken };
  return createPlayerContext(options as CheckedOptions, createManualClock());
};
/** Lets a `userToken` function settle. */
const settle = () => new Promise((resolve) => setTimeout(resolve));

test.each<[unknown, readonly string[]]>([
  [{ sub: 'p', ad_free: true }, ['interstitial', 'banner']],
  [{ sub: 'p', ad_free: true, ad_free_formats: ['rewarded'] }, ['rewarded']],
  [{ sub: 'p', ad_free: true, ad_free_formats: [] }, []],
  [{ sub: 'p', ad_free: true, ad_free_formats: 'banner' }, []],
  [{ sub: 'p', ad_free_formats: ['banner'] }, []],
  [{ sub: 'p', ad_free: false }, []],
  [{ sub: 'p', ad_free: 'true' }, []],
  [{ sub: 'p', ad_free: 1 }, []],
  [{ sub: 'p' }, []],
  [null, []],
  ['ad_free', []],
])('a token with the claims %j frees the player from %j', (claims, formats) => {
  const context = createContext(createToken(claims));
  expect(context.player().adFree).toEqual(formats);
  expect(context.isAdFree()).toBe(formats.length > 0);
});

test.each(['', '.', 'a.b', 'a.!.c', `e30.${encode('x')}`])(
  'the token %j frees nobody, and does not throw',
  (token) => {
    expect(createContext(token).isAdFree()).toBe(false);
  },
);

test('without a token, and for the next player, there are ads', () => {
  expect(createContext().isAdFree()).toBe(false);
  const context = createContext(createToken({ sub: 'p', ad_free: true }));
  expect(context.isAdFree()).toBe(true);
  context.setUser({ userRef: 'q' });
  expect(context.isAdFree()).toBe(false);
});

test('the first question calls the userToken function, whose latest token counts', async () => {
  let adFree = true;
  let calls = 0;
  const context = createContext(() => {
    calls += 1;
    return createToken({ sub: 'p', ad_free: adFree });
  });
  let changes = 0;
  context.onIdentified(() => (changes += 1));
  expect([context.isAdFree(), calls]).toEqual([false, 0]);
  await settle();
  expect([context.isAdFree(), context.isAdFree(), calls, changes]).toEqual([true, true, 1, 1]);
  adFree = false;
  const { userToken } = context.current().user;
  await (userToken as () => Promise<string>)();
  expect([context.isAdFree(), changes]).toEqual([false, 2]);
});

const secret = `utk_live_${'x'.repeat(43)}`;
const now = (): number => 0;
test.each<[unknown, object]>([
  [undefined, {}],
  [false, {}],
  [true, { ad_free: true }],
  [['rewarded', 'banner'], { ad_free: true, ad_free_formats: ['rewarded', 'banner'] }],
])('adFree: %j is signed as %j', async (adFree, claims) => {
  const token = await signUserToken('p', secret, { now, adFree: adFree as boolean });
  const [, body = ''] = token.split('.');
  expect(JSON.parse(atob(body))).toEqual({ sub: 'p', iat: 0, exp: 3_600, ...claims });
});

test.each([null, 0, 1, '', 'true', {}, ['video'], [['banner']]])(
  'adFree: %j is a mistake that frees nobody',
  async (adFree) => {
    const signed = signUserToken('p', secret, { now, adFree: adFree as unknown as boolean });
    await expect(signed).rejects.toThrow(
      `Expected \`adFree\` to be a boolean or a list of formats (rewarded, interstitial, banner), got ${JSON.stringify(adFree)}.`,
    );
  },
);
