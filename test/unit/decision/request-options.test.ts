import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { Decision, DecisionRequest } from '../../../protocol/wire.ts';
import type { LoadedCreative } from '../../../src/creative/renderer.ts';
import { createDecisions } from '../../../src/decision/decisions.ts';
import type { ReadyAd } from '../../../src/decision/request-ad.ts';
import type { NoAd } from '../../../src/decision/no-ad.ts';
import type { RequestOptions } from '../../../src/options.ts';
import type { Profile } from '../../../src/player-context.ts';
import type { ServiceResult, Call, Guard } from '../../../src/transport/service-client.ts';
import { createDeferred } from '../../support/deferred.ts';
import { createManualClock, runPendingWork } from '../../support/manual-clock.ts';
import { decisionPorts } from '../../support/ports.ts';

const never = new AbortController().signal;
const blue = { customData: 'blue' };
const red = { customData: 'red' };

beforeEach(() => void vi.stubGlobal('innerWidth', 800).stubGlobal('innerHeight', 600));
afterEach(() => void vi.unstubAllGlobals());

/**
 * Creates decisions with a fake service. The service puts the custom data into the decision id, and all decisions have
 * the same creative.
 */
function setUp(user: Profile['user'] = {}) {
  const clock = createManualClock();
  const requests: DecisionRequest[] = [];
  const responses: (Partial<Decision> | Promise<Partial<Decision>>)[] = [];
  const log = { loads: 0, destroyed: 0, aborted: 0 };
  const decisions = createDecisions({
    ...decisionPorts(clock),
    profile: () => ({ user, consent: undefined, simulate: undefined }),
    loadTimeoutMs: 5_000,
    client: {
      async call<T>(_path: string, _guard: Guard<T>, { body, signal }: Call) {
        const request = body as DecisionRequest;
        requests.push(request);
        signal?.addEventListener('abort', () => log.aborted++);
        const decision = {
          id: `dec_${request.custom_data ?? 'none'}`,
          status: 'filled',
          placement: 'revive',
          format: 'rewarded',
          creative: {
            id: 'crv_1',
            alt: '',
            media: { format: 'html', inline: '', width: 1, height: 1 },
          },
          token: 'token',
          issued_at: '2026-01-01T00:00:00.000Z',
          expires_at: '2026-01-01T00:10:00.000Z',
          ...(await responses.shift()),
        } satisfies Decision;
        return { kind: 'ok', body: decision } as ServiceResult<T>;
      },
    },
    async loadCreative() {
      log.loads++;
      return { destroy: () => log.destroyed++ } as unknown as LoadedCreative;
    },
  });
  return { responses, clock, decisions, log, requests };
}

const getDecisionId = (result: ReadyAd | NoAd) =>
  'creative' in result ? result.decision.id : result;

describe('custom data and segments for one call', () => {
  test('override those in the SDK options', async () => {
    const { decisions, requests } = setUp({ customData: 'all', segments: ['newcomer'] });
    await decisions.take('revive', never);
    await decisions.take('revive', never, { customData: '', segments: [] });
    expect(requests.map(({ custom_data, segments }) => [custom_data, segments])).toEqual([
      ['all', ['newcomer']],
      ['', []],
    ]);
  });

  test('are never sent for child-directed play', async () => {
    const { decisions, requests } = setUp({ childDirected: true });
    await decisions.take('revive', never, { customData: 'blue', segments: ['newcomer'] });
    expect(requests[0]).not.toHaveProperty('custom_data');
    expect(requests[0]).not.toHaveProperty('segments');
  });

  test('select the ad that was preloaded with the same values', async () => {
    const { decisions, requests } = setUp();
    const options = { customData: 'blue', segments: ['a', 'b'] };
    await decisions.preload('revive', never, options);
    expect(getDecisionId(await decisions.take('revive', never, structuredClone(options)))).toBe(
      'dec_blue',
    );
    expect(requests).toHaveLength(1);
  });

  test.each<[RequestOptions]>([[{}], [red], [{ ...blue, segments: ['newcomer'] }]])(
    'cause a new request if the ad was preloaded with different values: %j',
    async (options) => {
      const { decisions, log, requests } = setUp();
      await decisions.preload('revive', never, blue);
      await decisions.take('revive', never, options);
      expect(requests).toHaveLength(2);
      expect(requests[1]?.custom_data).toBe(options.customData);
      expect(log).toMatchObject({ loads: 1, destroyed: 0 });
    },
  );

  test('keep ads apart for concurrent callers with different values', async () => {
    const { responses, decisions } = setUp();
    const first = createDeferred<Partial<Decision>>();
    responses.push(first.promise);
    const preloaded = decisions.preload('revive', never, blue);
    await runPendingWork();
    expect(getDecisionId(await decisions.take('revive', never, red))).toBe('dec_red');
    first.resolve({});
    expect(await preloaded).toEqual({ available: true });
    expect(getDecisionId(await decisions.take('revive', never, blue))).toBe('dec_blue');
  });

  test('do not reuse media from an ad that was shown while the request was in flight', async () => {
    const { responses, decisions, log } = setUp();
    await decisions.preload('revive', never, blue);
    const second = createDeferred<Partial<Decision>>();
    responses.push(second.promise);
    const preloaded = decisions.preload('revive', never, red);
    await runPendingWork();
    const shownAd = await decisions.take('revive', never, blue);
    second.resolve({});
    await preloaded;
    const next = await decisions.take('revive', never, red);
    expect(log.loads).toBe(2);
    expect('creative' in shownAd && 'creative' in next && shownAd.creative !== next.creative).toBe(
      true,
    );
  });

  test('share a cooldown unless the segments differ', async () => {
    const { responses, decisions, requests } = setUp();
    const retryAt = '2026-01-01T00:01:00.000Z';
    responses.push({ status: 'blocked', reason: 'cooldown', retry_at: retryAt });
    await decisions.take('revive', never, blue);
    expect(await decisions.take('revive', never, red)).toMatchObject({ outcome: 'cooldown' });
    expect(requests).toHaveLength(1);
    await decisions.take('revive', never, { segments: ['newcomer'] });
    expect(requests).toHaveLength(2);
  });

  test('leave no request in flight when the SDK is destroyed', async () => {
    const { responses, decisions, log } = setUp();
    responses.push(new Promise(() => undefined), new Promise(() => undefined));
    const preloads = [blue, red].map((options) => decisions.preload('revive', never, options));
    await runPendingWork();
    decisions.destroy();
    expect(log.aborted).toBe(2);
    responses.length = 0;
    void preloads;
  });
});

describe('a user token function', () => {
  test('is awaited for each request', async () => {
    let calls = 0;
    const { decisions, requests } = setUp({ userToken: async () => `token-${(calls += 1)}` });
    await decisions.take('revive', never);
    await decisions.take('revive', never);
    expect(requests.map(({ user_token }) => user_token)).toEqual(['token-1', 'token-2']);
  });

  test.each<[string, () => string | Promise<string>, string]>([
    [
      'throws',
      () => {
        throw new Error('no session');
      },
      'no session',
    ],
    ['rejects', () => Promise.reject(new Error('no session')), 'no session'],
    ['resolves with a number', async () => 7 as unknown as string, 'got number'],
  ])('that %s fails only the current request', async (_description, userTokenFunction, detail) => {
    const userToken = vi.fn<() => string | Promise<string>>(userTokenFunction);
    const { decisions, requests } = setUp({ userToken });
    expect(await decisions.take('revive', never)).toEqual({
      outcome: 'error',
      reason: 'user_token_failed',
      detail: expect.stringContaining(detail),
    });
    expect(requests).toEqual([]);
    userToken.mockReturnValue('token');
    expect(getDecisionId(await decisions.take('revive', never))).toBe('dec_none');
  });

  test('that never settles fails only its own request, after the load timeout', async () => {
    const userToken = vi.fn<() => string | Promise<string>>(() => new Promise(() => undefined));
    const { clock, decisions, requests } = setUp({ userToken });
    const preloaded = decisions.preload('revive', never);
    await clock.advance(5_000);
    expect(await preloaded).toMatchObject({ available: false, outcome: 'timeout' });
    // The only timer is the one that offers an ad again.
    expect(clock.timers()).toBe(1);
    userToken.mockReturnValue('token');
    expect(getDecisionId(await decisions.take('revive', never))).toBe('dec_none');
    expect(requests).toHaveLength(1);
  });

  test('does not delay a call that was aborted', async () => {
    const { clock, decisions } = setUp({ userToken: () => new Promise(() => undefined) });
    const abort = new AbortController();
    const request = decisions.take('revive', abort.signal);
    await runPendingWork();
    abort.abort();
    expect(await request).toEqual({ outcome: 'aborted' });
    expect(clock.timers()).toBe(0);
  });
});
