import { createHmac } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, test } from 'vitest';
import {
  createUsedReceipts,
  ReceiptError,
  type ReceiptErrorCode,
  signUserToken,
  type SignUserTokenOptions,
  verifyReceipt,
  type VerifyReceiptOptions,
} from '../../../src/server/index.ts';
import { claims, encode, issuedAtS, makeSigner } from './receipt-fixture.ts';

const signer = await makeSigner('key-1');
const keys = { keys: [signer.jwk] };
const options = { accountId: 'acc_1', now: () => issuedAtS * 1_000 };
const verifyAndGetCode = (
  receipt: string,
  more: Partial<VerifyReceiptOptions> = {},
  keySource = keys,
) =>
  verifyReceipt(receipt, keySource, { ...options, ...more }).then(
    () => 'accepted',
    (error: unknown) => (error instanceof ReceiptError ? error.code : error),
  );

describe('verifyReceipt', () => {
  test('returns the claims from a receipt that the service signed', async () => {
    expect(await verifyReceipt(await signer.sign(), keys, options)).toEqual({
      decisionId: 'dec_1',
      userRef: 'player 1',
      placement: 'revive',
      reward: { type: 'coins', amount: 25 },
      evidence: 'verified',
      environment: 'live',
      accountId: 'acc_1',
      issuer: 'https://play.example',
      issuedAt: new Date(issuedAtS * 1_000),
      expiresAt: new Date((issuedAtS + 2_592_000) * 1_000),
    });
  });

  test('accepts evidence other than the service’s own only if its type is listed', async () => {
    const verifyEvidence = async (evidence: unknown, acceptEvidence?: string[]) => {
      const receiptOptions = acceptEvidence ? { ...options, acceptEvidence } : options;
      return (await verifyReceipt(await signer.sign({ evidence }), keys, receiptOptions)).evidence;
    };
    expect(await verifyEvidence(undefined)).toBe('verified');
    expect(await verifyEvidence('verified')).toBe('verified');
    expect(await verifyEvidence('verified', ['source_attested'])).toBe('verified');
    expect(await verifyEvidence('source_attested', ['source_attested'])).toBe('source_attested');
    for (const evidence of ['source_attested', 'VERIFIED', '', null, 1, ['verified']])
      expect(await verifyAndGetCode(await signer.sign({ evidence }))).toBe('evidence_not_accepted');
    const other = await signer.sign({ evidence: 'client_attested' });
    expect(await verifyAndGetCode(other, { acceptEvidence: ['source_attested'] })).toBe(
      'evidence_not_accepted',
    );
  });

  test('rejects a receipt in which any single character was changed', async () => {
    const receipt = await signer.sign();
    for (let at = 0; at < receipt.length; at += 1) {
      // The last character of base64url has unused bits. The replacement has to differ in the bits that are used.
      const other = receipt[at] === 'A' ? 'Q' : 'A';
      const tampered = receipt.slice(0, at) + other + receipt.slice(at + 1);
      expect(await verifyAndGetCode(tampered), `at ${at}`).not.toBe('accepted');
    }
  });

  test('rejects a receipt that specifies its own key or algorithm', async () => {
    const otherSigner = await makeSigner('key-1');
    const body = `${encode({ alg: 'HS256', kid: 'key-1', typ: 'reward-receipt+jwt' })}.${encode(claims)}`;
    const mac = createHmac('sha256', signer.jwk.x ?? '').update(body);
    const attempts: [string, ReceiptErrorCode][] = [
      [await otherSigner.sign(), 'mismatch'],
      [await otherSigner.sign({}, { jwk: otherSigner.jwk }), 'mismatch'],
      [await otherSigner.sign({}, { kid: 'other' }), 'key_unknown'],
      [await otherSigner.sign({}, { kid: undefined }), 'key_unknown'],
      [`${body}.${mac.digest('base64url')}`, 'algorithm_not_allowed'],
      [await signer.sign({}, { alg: 'none' }), 'algorithm_not_allowed'],
      // Another kind of token, signed with the same key, is not a receipt.
      [await signer.sign({}, { typ: 'JWT' }), 'algorithm_not_allowed'],
    ];
    for (const [receipt, code] of attempts) expect(await verifyAndGetCode(receipt)).toBe(code);
  });

  test('rejects a sandbox receipt in the live environment', async () => {
    const sandbox = await signer.sign({ env: 'sandbox' });
    expect(await verifyAndGetCode(sandbox)).toBe('wrong_environment');
    expect(await verifyAndGetCode(sandbox, { environment: 'sandbox' })).toBe('accepted');
  });

  test.each<[string, object, Partial<VerifyReceiptOptions>, ReceiptErrorCode]>([
    ['for another account', { aud: 'acc_2' }, {}, 'wrong_account'],
    ['for an account whose id begins like ours', { aud: 'acc_12' }, {}, 'wrong_account'],
    ['for the beginning of our id', { aud: 'acc_' }, {}, 'wrong_account'],
    ['from another service', {}, { issuer: 'https://other.example' }, 'wrong_issuer'],
    [
      'from a service whose URL begins like ours',
      { iss: 'https://play.example.evil.example' },
      { issuer: 'https://play.example' },
      'wrong_issuer',
    ],
    ['that has expired', { exp: issuedAtS - 60 }, {}, 'expired'],
    ['from the future', { iat: issuedAtS + 61 }, {}, 'not_yet_valid'],
    ['without an expiry time', { exp: undefined }, {}, 'malformed'],
    ['without a user', { sub: undefined }, {}, 'malformed'],
    ['without an amount', { reward: { type: 'coins' } }, {}, 'malformed'],
    ['that has expired before any date', { exp: -1e300 }, {}, 'malformed'],
    ['that was issued after any date', { iat: 1e300, exp: 1e301 }, {}, 'malformed'],
  ])('rejects a receipt %s', async (_description, changed, more, code) => {
    expect(await verifyAndGetCode(await signer.sign(changed), more)).toBe(code);
  });

  test.each(['', 'x', 'a.b', 'a.b.c', '..', 'a.b.c.d', 'ä.b.c', `${'a'.repeat(9_000)}.b.c`])(
    'rejects the malformed receipt %.20s',
    async (text) => {
      expect(await verifyAndGetCode(text)).toBe('malformed');
    },
  );

  test.each([1, 5, 85])('rejects a signature of %i characters', async (length) => {
    const [head, payload] = (await signer.sign()).split('.');
    expect(await verifyAndGetCode(`${head}.${payload}.${'A'.repeat(length)}`)).toBe('malformed');
  });

  test.each<[string, unknown[], string]>([
    ['nothing', [], 'key_unknown'],
    ['null', [null], 'key_unknown'],
    ['the key without its id', [{ ...signer.jwk, kid: undefined }], 'key_unknown'],
    ['a number before the key', [7, signer.jwk], 'accepted'],
    ['a key that is too short', [{ ...signer.jwk, x: 'AA' }], 'keys_unavailable'],
    ['a key without its bytes', [{ kid: 'key-1', kty: 'OKP' }], 'keys_unavailable'],
  ])('with a key set that contains %s, the result is typed', async (_contents, set, code) => {
    const keySet = { keys: set } as typeof keys;
    expect(await verifyAndGetCode(await signer.sign(), {}, keySet)).toBe(code);
  });

  test('tolerates limited clock skew in both directions', async () => {
    const at = (seconds: number) => ({ now: () => (issuedAtS + seconds) * 1_000 });
    const receipt = await signer.sign();
    expect(await verifyAndGetCode(receipt, at(-60))).toBe('accepted');
    expect(await verifyAndGetCode(receipt, at(-61))).toBe('not_yet_valid');
    expect(await verifyAndGetCode(receipt, at(2_592_000 + 59))).toBe('accepted');
    expect(await verifyAndGetCode(receipt, at(2_592_000 + 60))).toBe('expired');
  });

  test('caches the keys from a URL and fetches them again for an unknown key id', async () => {
    let requests = 0;
    let keySet: object = keys;
    const server = createServer((_request, response) => {
      requests += 1;
      response.end(JSON.stringify(keySet));
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/jwks.json`;
    let nowS = issuedAtS;
    const verify = async (receipt: string) =>
      verifyReceipt(receipt, url, {
        accountId: 'acc_1',
        issuer: 'https://play.example',
        now: () => nowS * 1_000,
      }).then(
        () => 'accepted',
        (error: ReceiptError) => error.code,
      );
    const receipt = await signer.sign();
    expect([await verify(receipt), await verify(receipt), requests]).toEqual([
      'accepted',
      'accepted',
      1,
    ]);
    const next = await makeSigner('key-2');
    keySet = { keys: [next.jwk, signer.jwk] };
    const nextReceipt = await next.sign();
    // Receipts with made-up key ids must not each trigger a request.
    expect([await verify(nextReceipt), requests]).toEqual(['key_unknown', 1]);
    nowS += 31;
    expect([await verify(nextReceipt), requests]).toEqual(['accepted', 2]);
    await new Promise((resolve) => server.close(resolve));
    nowS += 3_601;
    // While the service is down, cached keys keep working. An unknown key id fails with a distinct error code.
    expect(await verify(nextReceipt)).toBe('accepted');
    expect(await verify(await (await makeSigner('key-3')).sign())).toBe('keys_unavailable');
  });

  test('expects the issuer at whose URL the keys are, unless another one is named', async () => {
    const server = createServer(({ url }, response) => {
      if (url === '/moved') response.writeHead(302, { location: '/jwks.json' }).end();
      else response.end(JSON.stringify(keys));
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const verify = async (iss: string, more: Partial<VerifyReceiptOptions> = {}) =>
      verifyReceipt(await signer.sign({ iss }), `${origin}/jwks.json`, {
        ...options,
        ...more,
      }).then(
        ({ issuer }) => issuer,
        (error: ReceiptError) => error.code,
      );
    expect(await verify(origin)).toBe(origin);
    expect(await verify('https://play.example')).toBe('wrong_issuer');
    const named = { issuer: 'https://play.example' };
    expect(await verify('https://play.example', named)).toBe('https://play.example');
    expect(await verify(origin, named)).toBe('wrong_issuer');
    // The keys at the end of a redirect may be those of another service.
    const moved = verifyReceipt(await signer.sign({ iss: origin }), `${origin}/moved`, options);
    await expect(moved).rejects.toMatchObject({ code: 'keys_unavailable' });
    await new Promise((resolve) => server.close(resolve));
  });

  test.each(['', 'null', '7', '[]', '{}', '{"keys":null}', '{"keys":{}}'])(
    'says that the keys are unavailable if the URL returns %j',
    async (text) => {
      const server = createServer((_request, response) => response.end(text));
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
      const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/jwks.json`;
      const verifying = verifyReceipt(await signer.sign(), url, {
        ...options,
        issuer: 'https://play.example',
      });
      await expect(verifying).rejects.toMatchObject({ code: 'keys_unavailable' });
      await new Promise((resolve) => server.close(resolve));
    },
  );
});

describe('createUsedReceipts', () => {
  const receipt = (decisionId: string) => ({
    decisionId,
    expiresAt: new Date((issuedAtS + 2_592_000) * 1_000),
  });

  test('accepts each receipt only once', () => {
    const used = createUsedReceipts();
    expect(used.seen('dec_1')).toBe(false);
    expect([used.claim(receipt('dec_1')), used.claim(receipt('dec_1'))]).toEqual([true, false]);
    expect([used.seen('dec_1'), used.seen('dec_2')]).toEqual([true, false]);
  });

  test('throws when it is full of unexpired ids', () => {
    let now = issuedAtS * 1_000;
    const used = createUsedReceipts({ capacity: 2, now: () => now });
    used.claim(receipt('dec_1'));
    used.claim(receipt('dec_2'));
    expect(() => used.claim(receipt('dec_3'))).toThrow('capacity');
    // The receipts can be presented for 30 days, however long ago they were used.
    now += 30 * 86_400_000;
    expect(() => used.claim(receipt('dec_3'))).toThrow('capacity');
    now += 86_400_000;
    expect(used.claim(receipt('dec_3'))).toBe(true);
    expect([used.seen('dec_1'), used.seen('dec_3')]).toEqual([false, true]);
  });
});

describe('signUserToken', () => {
  const secret = 'utk_live_secret';
  test('signs the user and the expiry time with HMAC-SHA256', async () => {
    const token = await signUserToken('player 1', secret, { now: options.now, lifetimeS: 60 });
    const [header = '', body = '', mac] = token.split('.');
    const read = (part: string) => JSON.parse(Buffer.from(part, 'base64url').toString()) as object;
    expect([read(header), read(body)]).toEqual([
      { alg: 'HS256', typ: 'JWT' },
      { sub: 'player 1', iat: issuedAtS, exp: issuedAtS + 60 },
    ]);
    const expected = createHmac('sha256', secret).update(`${header}.${body}`);
    expect(mac).toBe(expected.digest('base64url'));
  });

  test.each<[SignUserTokenOptions['adFree'], object]>([
    [undefined, {}],
    [false, {}],
    [true, { ad_free: true }],
    [['banner'], { ad_free: true, ad_free_formats: ['banner'] }],
    // Without its empty list, the token would end the formats that `true` ends.
    [[], { ad_free: true, ad_free_formats: [] }],
  ])('signs that %j is free of ads', async (adFree, expected) => {
    const [, part = ''] = (
      await signUserToken('player', secret, adFree === undefined ? {} : { adFree })
    ).split('.');
    const signed = JSON.parse(Buffer.from(part, 'base64url').toString()) as object;
    const { sub: _sub, iat: _iat, exp: _exp, ...rest } = signed as Record<string, unknown>;
    expect(rest).toEqual(expected);
  });

  test.each(['sk_live_x', 'whsec_x', 'utk_x', '', 'utk_live_'])(
    'rejects %j as a secret',
    async (wrong) => {
      await expect(signUserToken('player', wrong)).rejects.toThrow(TypeError);
    },
  );

  test.each(['', 'ä', 'x'.repeat(129), 'a\nb'])('rejects the user reference %j', async (user) => {
    await expect(signUserToken(user, secret)).rejects.toThrow(RangeError);
  });

  test.each([0, 0.5, -1, 86_401, Number.NaN])('rejects a lifetime of %f s', async (lifetimeS) => {
    await expect(signUserToken('player', secret, { lifetimeS })).rejects.toThrow(RangeError);
  });
});
