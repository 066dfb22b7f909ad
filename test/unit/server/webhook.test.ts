import { createHmac } from 'node:crypto';
import { runInNewContext } from 'node:vm';
import { describe, expect, test } from 'vitest';
import {
  signWebhook,
  verifyWebhook,
  WebhookError,
  type RawBody,
} from '../../../src/server/index.ts';

const secret = 'whsec_0123456789abcdefghijklmnopqrstuv';
const nextSecret = 'whsec_vutsrqponmlkjihgfedcba9876543210';
const signedAtS = 1_800_000_000;
const body = JSON.stringify({
  id: 'evt_1',
  type: 'decision.rewarded',
  created_at: '2027-01-15T08:00:00.000Z',
  environment: 'sandbox',
  data: {
    decision_id: 'dec_1',
    placement: 'revive',
    user_ref: 'zoë',
    reward: { type: 'coins', amount: 50 },
  },
});
const at = (offsetS: number) => ({ now: () => (signedAtS + offsetS) * 1000 });

async function getErrorCode(verification: Promise<unknown>): Promise<string> {
  try {
    await verification;
  } catch (error) {
    if (error instanceof WebhookError) return error.code;
    throw error;
  }
  return 'accepted';
}

describe('signWebhook', () => {
  test('signs the timestamp and the body, joined by a period, with the full secret', async () => {
    const expected = createHmac('sha256', secret).update(`${signedAtS}.${body}`).digest('hex');
    expect(await signWebhook(body, secret, signedAtS)).toEqual({
      'service-timestamp': String(signedAtS),
      'service-signature': `v1=${expected}`,
    });
  });

  test('returns one signature per secret', async () => {
    const [first, second] = [
      await signWebhook(body, secret, signedAtS),
      await signWebhook(body, nextSecret, signedAtS),
    ];
    const signedHeaders = await signWebhook(body, [secret, nextSecret], signedAtS);
    expect(signedHeaders['service-signature']).toBe(
      `${first['service-signature']},${second['service-signature']}`,
    );
  });

  test('adds the Standard Webhooks headers if an id is passed', async () => {
    // The example from the Standard Webhooks libraries' tests.
    const headers = await signWebhook(
      '{"test": 2432232314}',
      'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
      1_614_265_330,
      'msg_p5jXN8AQM9LWM0D4loKWxJek',
    );
    expect(headers).toMatchObject({
      'service-timestamp': '1614265330',
      'webhook-id': 'msg_p5jXN8AQM9LWM0D4loKWxJek',
      'webhook-timestamp': '1614265330',
      'webhook-signature': 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
    });
    const signedHeaders = await signWebhook(body, [secret, nextSecret], signedAtS, 'evt_1');
    expect(signedHeaders['webhook-signature'].split(' ')).toHaveLength(2);
  });

  test.each(['', 'evt.1', 'evt 1', 'e'.repeat(257)])('rejects the id %j', async (id) => {
    await expect(signWebhook(body, secret, signedAtS, id)).rejects.toThrow(RangeError);
  });

  test('rejects a secret that is not base64 if Standard Webhooks headers are requested', async () => {
    const signing = signWebhook(body, 'whsec_a-secret', signedAtS, 'evt_1');
    expect(await getErrorCode(signing)).toBe('secret_wrong_kind');
    expect(await getErrorCode(signWebhook(body, 'whsec_a-secret', signedAtS))).toBe('accepted');
  });

  test('rejects an empty list of secrets', async () => {
    expect(await getErrorCode(signWebhook(body, [], signedAtS))).toBe('secret_wrong_kind');
  });

  test.each([signedAtS * 1000, 1.5, -1, Number.NaN])(
    'rejects the timestamp %d',
    async (timestampS) => {
      await expect(signWebhook(body, secret, timestampS)).rejects.toThrow(RangeError);
    },
  );
});

describe('verifyWebhook', () => {
  test('returns the event from a signed body, whether text or bytes', async () => {
    const bytes = new TextEncoder().encode(body);
    for (const rawBody of [body, bytes, Buffer.from(body)] satisfies RawBody[]) {
      const headers = await signWebhook(rawBody, secret, signedAtS);
      const event = await verifyWebhook(rawBody, headers, secret, at(0));
      expect(event).toEqual(JSON.parse(body));
    }
  });

  test('takes bytes whose class is not this module’s, as in Jest', async () => {
    const bytes = runInNewContext('new Uint8Array(codes)', { codes: [...Buffer.from(body)] });
    expect(bytes instanceof Uint8Array).toBe(false);
    const headers = await signWebhook(body, secret, signedAtS);
    expect(await verifyWebhook(bytes as Uint8Array, headers, secret, at(0))).toEqual(
      JSON.parse(body),
    );
  });

  test.each([new ArrayBuffer(2), new DataView(new ArrayBuffer(2)), new Uint16Array(1), [1, 2]])(
    'rejects bytes in another form',
    async (rawBody) => {
      const headers = await signWebhook(body, secret, signedAtS);
      const verifying = verifyWebhook(rawBody as unknown as RawBody, headers, secret, at(0));
      expect(await getErrorCode(verifying)).toBe('body_not_raw');
    },
  );

  test('reads header names in any case, from a Headers object or a plain object', async () => {
    const signed = await signWebhook(body, secret, signedAtS);
    const [timestamp, signature] = [signed['service-timestamp'], signed['service-signature']];
    const forms = [
      new Headers(signed),
      signed,
      { 'Service-Timestamp': timestamp, 'Service-Signature': signature },
      { 'SERVICE-TIMESTAMP': timestamp, 'service-signature': ['v2=later', signature] },
      {
        'service-timestamp': [timestamp],
        'service-signature': `v1=${'0'.repeat(64)}, ${signature}`,
      },
    ];
    for (const headers of forms) {
      expect(await getErrorCode(verifyWebhook(body, headers, secret, at(0)))).toBe('accepted');
    }
  });

  test('falls back to the Standard Webhooks headers', async () => {
    const signed = await signWebhook(body, [secret, nextSecret], signedAtS, 'evt_1');
    const { 'service-timestamp': _time, 'service-signature': signature, ...standard } = signed;
    const verify = (headers: Record<string, string>, offsetS = 0) =>
      getErrorCode(verifyWebhook(body, headers, nextSecret, at(offsetS)));
    expect(await verify(standard)).toBe('accepted');
    expect(await verify(standard, 301)).toBe('too_old');
    expect(await verify({ ...standard, 'webhook-id': 'evt_2' })).toBe('mismatch');
    expect(await verify({ ...standard, 'webhook-id': '' })).toBe('headers_missing');
    expect(await verify({ ...standard, 'webhook-timestamp': 'soon' })).toBe('headers_missing');
    // Only the canonical encoding of 32 bytes is accepted.
    const [first = ''] = standard['webhook-signature'].split(' ').toReversed();
    const variant = first.replace(/.=$/, (end) => `${String.fromCharCode(end.charCodeAt(0) + 1)}=`);
    expect(await verify({ ...standard, 'webhook-signature': variant })).toBe('no_v1');
    // The two schemes cannot be mixed: `Service-Signature` requires `Service-Timestamp` too.
    expect(await verify({ ...standard, 'service-signature': signature })).toBe('headers_missing');
  });

  test('an unsigned timestamp of the other scheme makes no old request new', async () => {
    const signed = await signWebhook(body, secret, signedAtS, 'evt_1');
    const { 'service-signature': _service, ...standard } = signed;
    const { 'webhook-signature': _standard, ...service } = signed;
    const fresh = String(signedAtS + 1_000);
    for (const headers of [
      { ...standard, 'service-timestamp': fresh },
      { ...service, 'webhook-timestamp': fresh },
    ])
      expect(await getErrorCode(verifyWebhook(body, headers, secret, at(1_000)))).toBe('too_old');
  });

  test('accepts every combination of old and new secrets during a rotation', async () => {
    const verify = async (signers: string[], verifiers: string | string[]) =>
      getErrorCode(
        verifyWebhook(body, await signWebhook(body, signers, signedAtS), verifiers, at(0)),
      );
    expect(await verify([secret, nextSecret], secret)).toBe('accepted');
    expect(await verify([secret, nextSecret], nextSecret)).toBe('accepted');
    expect(await verify([nextSecret], [secret, nextSecret])).toBe('accepted');
    expect(await verify([nextSecret], [secret])).toBe('mismatch');
  });

  test('rejects a body in which any byte is changed, removed or added', async () => {
    const headers = await signWebhook(body, secret, signedAtS);
    const bytes = new TextEncoder().encode(body);
    for (let index = 0; index < bytes.length; index += 1) {
      const changed = bytes.with(index, (bytes[index] ?? 0) ^ 1);
      const removed = new Uint8Array([...bytes.slice(0, index), ...bytes.slice(index + 1)]);
      const added = new Uint8Array([...bytes.slice(0, index), 32, ...bytes.slice(index)]);
      for (const forged of [changed, removed, added]) {
        expect(await getErrorCode(verifyWebhook(forged, headers, secret, at(0)))).toBe('mismatch');
      }
    }
  });

  test('rejects headers in which any character is changed', async () => {
    const signed = await signWebhook(body, secret, signedAtS);
    for (const name of ['service-timestamp', 'service-signature'] as const) {
      const value = signed[name];
      for (let index = 0; index < value.length; index += 1) {
        for (const character of ['0', '1', 'f', 'F', 'x', ' ', ',']) {
          if (value[index] === character) continue;
          const forged = value.slice(0, index) + character + value.slice(index + 1);
          const code = await getErrorCode(
            verifyWebhook(body, { ...signed, [name]: forged }, secret, at(0)),
          );
          expect(['mismatch', 'no_v1', 'headers_missing']).toContain(code);
        }
      }
    }
  });

  test('limits how far the timestamp may be in the past or the future', async () => {
    const headers = await signWebhook(body, secret, signedAtS);
    const codeAt = (offsetS: number, toleranceS?: number) =>
      getErrorCode(
        verifyWebhook(body, headers, secret, {
          ...at(offsetS),
          ...(toleranceS === undefined ? {} : { toleranceS }),
        }),
      );
    expect(await codeAt(300)).toBe('accepted');
    expect(await codeAt(301)).toBe('too_old');
    expect(await codeAt(-300)).toBe('accepted');
    expect(await codeAt(-301)).toBe('too_new');
    expect(await codeAt(11, 10)).toBe('too_old');
    expect(await codeAt(0, Number.NaN)).toBe('too_old');
    expect(await codeAt(0, -1)).toBe('too_old');
  });

  test.each(['', '-1', '1.5', '0x10', '1e9', ' 1800000000', 'soon', '١٨٠'])(
    'rejects the timestamp %j',
    async (timestamp) => {
      const headers = {
        ...(await signWebhook(body, secret, signedAtS)),
        'service-timestamp': timestamp,
      };
      expect(await getErrorCode(verifyWebhook(body, headers, secret, at(0)))).toBe(
        'headers_missing',
      );
    },
  );

  test.each([
    'v1=',
    'v2=abc',
    'abc',
    `v1=${'A'.repeat(64)}`,
    `v1=${'0'.repeat(65)}`,
    `v0v1=${'0'.repeat(64)}`,
    `sha256=${'0'.repeat(64)}`,
  ])('finds no version 1 signature in %j', async (signature) => {
    const headers = {
      ...(await signWebhook(body, secret, signedAtS)),
      'service-signature': signature,
    };
    expect(await getErrorCode(verifyWebhook(body, headers, secret, at(0)))).toBe('no_v1');
  });

  test('reports missing headers', async () => {
    expect(await getErrorCode(verifyWebhook(body, {}, secret))).toBe('headers_missing');
    expect(await getErrorCode(verifyWebhook(body, new Headers(), secret))).toBe('headers_missing');
    expect(await getErrorCode(verifyWebhook(body, undefined as never, secret))).toBe(
      'headers_missing',
    );
  });

  test('reports a body that has already been parsed', async () => {
    const headers = await signWebhook(body, secret, signedAtS);
    for (const parsed of [JSON.parse(body), null, undefined, Object.create(null)]) {
      expect(await getErrorCode(verifyWebhook(parsed as never, headers, secret, at(0)))).toBe(
        'body_not_raw',
      );
    }
  });

  test.each(['sk_sandbox_1', 'pk_live_1', '', 'whsec_', 'whsec_a b', 'abc', undefined, []])(
    'rejects %j as a secret, without echoing it',
    async (wrong) => {
      const headers = await signWebhook(body, secret, signedAtS);
      const verification = verifyWebhook(body, headers, wrong as never, at(0));
      const error: unknown = await verification.catch((reason: unknown) => reason);
      expect(error).toMatchObject({ name: 'WebhookError', code: 'secret_wrong_kind' });
      if (wrong === 'sk_sandbox_1') expect(String(error)).not.toContain(wrong);
    },
  );

  test.each(['', 'no json', '[]', 'null', '{"id":"evt_1"}', '{"id":1,"type":"x","data":{}}'])(
    'rejects the signed body %j because it is not an event',
    async (text) => {
      const headers = await signWebhook(text, secret, signedAtS);
      const error: unknown = await verifyWebhook(text, headers, secret, at(0)).catch(
        (reason: unknown) => reason,
      );
      expect(error).toMatchObject({ code: 'body_not_json' });
      // Only a body that is no JSON has another error as its cause.
      const isJson = text !== '' && text !== 'no json';
      expect((error as Error).cause === undefined).toBe(isJson);
    },
  );

  test('accepts unverified rewards only if their evidence type is listed', async () => {
    const codeFor = async (evidence: unknown, acceptEvidence?: string[], type?: string) => {
      const event = { id: 'evt_1', type: type ?? 'decision.rewarded', data: { evidence } };
      const text = JSON.stringify(event);
      const headers = await signWebhook(text, secret, signedAtS);
      const options = { ...at(0), ...(acceptEvidence && { acceptEvidence }) };
      return getErrorCode(verifyWebhook(text, headers, secret, options));
    };
    expect(await codeFor(undefined)).toBe('accepted');
    expect(await codeFor('verified')).toBe('accepted');
    expect(await codeFor('source_attested', ['source_attested'])).toBe('accepted');
    for (const evidence of ['source_attested', 'Verified', '', null, 0, {}])
      expect(await codeFor(evidence)).toBe('evidence_not_accepted');
    for (const evidence of ['client_attested', 'source', 'source_attested_by_none'])
      expect(await codeFor(evidence, ['source_attested'])).toBe('evidence_not_accepted');
    // Events of other types have no evidence.
    expect(await codeFor('source_attested', undefined, 'decision.served')).toBe('accepted');
  });

  test('rejects signed bytes that are not UTF-8', async () => {
    const bytes = new Uint8Array([0x7b, 0xff, 0x7d]);
    const headers = await signWebhook(bytes, secret, signedAtS);
    expect(await getErrorCode(verifyWebhook(bytes, headers, secret, at(0)))).toBe('body_not_json');
  });
});
