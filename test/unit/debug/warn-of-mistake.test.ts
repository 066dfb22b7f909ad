import { expect, it, vi } from 'vitest';
import { describeMistake, warnOfMistake } from '../../../src/debug/warn-of-mistake.ts';
import type { Decision, Mistake } from '../../../protocol/wire.ts';
import type { ServiceResult } from '../../../src/transport/service-client.ts';

const serviceUrl = 'https://play.example';
const refused = (code: string, more: object = {}): ServiceResult<Decision> => ({
  kind: 'refused',
  problem: { code: code as 'placement_not_found', ...more },
});

it.each<[string, ServiceResult<Decision>, RegExp]>([
  [
    'a misspelt placement',
    refused('placement_not_found', {
      detail: 'There is no placement revve. Did you mean `revive`?',
    }),
    /Did you mean `revive`\?.*panel/,
  ],
  ['an unknown placement', refused('placement_not_found'), /no placement revve/],
  [
    'a missing player',
    refused('invalid_request', { errors: [{ pointer: '/user_ref', message: 'is required' }] }),
    /needs a player. Pass `userRef`/,
  ],
  ['an origin that is not allowed', refused('origin_not_allowed'), /allowed origins/],
  [
    'a wrong URL',
    { kind: 'unreachable', cause: 'unexpected_response' },
    /play\.example.*serviceUrl/,
  ],
  ['a service that is down', { kind: 'unreachable', cause: 'network' }, /the service is running/],
])('explains %s and its remedy', (_, response, message) => {
  const incident = { type: 'response', placement: 'revve', serviceUrl, response } as const;
  expect(describeMistake(incident)).toMatch(message);
});

it('explains that no handler receives a reward, and says nothing about other failures', () => {
  expect(describeMistake({ type: 'unhandledReward' })).toContain("ads.on('reward'");
  for (const response of [
    refused('key_unknown'),
    refused('invalid_request'),
    { kind: 'unreachable', cause: 'timeout' } as const,
    { kind: 'retry', status: 503 } as const,
  ])
    expect(
      describeMistake({ type: 'response', placement: 'revive', serviceUrl, response }),
    ).toBeUndefined();
});

it('tells each mistake that the service found once, although its figures change', () => {
  const warn = vi.spyOn(console, 'warn').mockReturnValue();
  const answer = (count: number, ...names: Mistake['name'][]) =>
    warnOfMistake({
      type: 'response',
      placement: 'revive',
      serviceUrl,
      response: {
        kind: 'ok',
        body: {
          id: 'dec_1',
          status: 'filled',
          placement: 'revive',
          issued_at: '',
          expires_at: '',
          mistakes: names.map((name) => ({
            name,
            evidence: `Seen ${count} times.`,
            remedy: 'Mend it.',
            guide: 'docs/test-your-integration.md',
          })),
        } as Decision,
      },
    });
  answer(1, 'shared_user_ref');
  answer(2, 'shared_user_ref', 'receiver_is_slow');
  answer(3);
  expect(warn.mock.calls).toEqual([
    ['trueward: Seen 1 times. Mend it. (docs/test-your-integration.md)'],
    ['trueward: Seen 2 times. Mend it. (docs/test-your-integration.md)'],
  ]);
});

it.each([null, 1, 'text', {}, [null], ['text']])(
  'ignores what is no list of mistakes: %j',
  (value) => {
    const warn = vi.spyOn(console, 'warn').mockReturnValue();
    const body = { id: 'dec_1', mistakes: value } as unknown as Decision;
    const response = { kind: 'ok', body } as const;
    warnOfMistake({ type: 'response', placement: 'revive', serviceUrl, response });
    expect(warn).not.toHaveBeenCalled();
  },
);
