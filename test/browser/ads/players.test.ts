import { afterEach, expect, it, vi } from 'vitest';
import type { Decision, DecisionRequest } from '../../../protocol/wire.ts';
import { type Ads, type AdsOptions, createAds, type EarnedReward } from '../../../src/index.ts';
import { signUserToken } from '../../../src/server/index.ts';
import { createDeferred } from '../../support/deferred.ts';
import { eventually } from '../../support/eventually.ts';
import { createPublishableKey, picture, createStubService } from '../../support/stub-service.ts';

const instances: Ads[] = [];
afterEach(() => instances.splice(0).forEach((ads) => ads.destroy()));

const signToken = (userRef: string) => signUserToken(userRef, `utk_sandbox_${'x'.repeat(32)}`);

/** Creates a game on one device. Each start is a new visit. */
function game() {
  const service = createStubService();
  service.respond = () => picture(200);
  const requests: DecisionRequest[] = [];
  const publishableKey = createPublishableKey();
  const start = (options: Partial<AdsOptions>) => {
    const ads = createAds({
      publishableKey,
      serviceUrl: 'https://ads.test',
      fetch: (input, init) => {
        if (input === 'https://ads.test/v1/decisions' && typeof init?.body === 'string')
          requests.push(JSON.parse(init.body) as DecisionRequest);
        return service.fetch(input, init);
      },
      ...options,
    });
    instances.push(ads);
    const received: EarnedReward[] = [];
    return {
      ads,
      received,
      listen: () => ads.on('reward', (reward) => void received.push(reward)),
    };
  };
  return { service, requests, start };
}

it('delivers a reward only to the player who earned it, even on a shared device', async () => {
  const { start } = game();
  const first = start({ userRef: 'ann' });
  const { decisionId = '' } = await first.ads.showRewarded('revive');
  first.ads.destroy();
  const second = start({ userRef: 'bob' });
  second.listen();
  expect(await second.ads.rewards()).toEqual([]);
  expect((await second.ads.rewardStatus(decisionId)).state).toBe('none');
  expect(second.ads.diagnostics().rewards).toMatchObject({ pending: 0, undelivered: 0 });
  second.ads.setUser({ userRef: 'ann' });
  await eventually(() => expect(second.received).toMatchObject([{ decisionId, userRef: 'ann' }]));
});

it('in child-directed mode, never sends the user references that tell players apart', async () => {
  const { requests, start } = game();
  const { ads, received, listen } = start({ userRef: 'ann', childDirected: true });
  await ads.showRewarded('revive');
  ads.setUser({ userRef: 'bob' });
  listen();
  expect(await ads.rewards()).toEqual([]);
  await ads.preload('revive');
  ads.setUser({ userRef: 'ann' });
  await eventually(() => expect(received).toMatchObject([{ userRef: 'ann' }]));
  const names = requests.map(({ user_ref: name = '' }) => name);
  expect(names).toEqual([expect.stringMatching(/^child-/), expect.stringMatching(/^child-/)]);
  expect(names[0]).not.toBe(names[1]);
  expect(JSON.stringify(requests)).not.toMatch(/ann|bob/);
});

it('in child-directed mode, never sends the user tokens that tell players apart', async () => {
  const { requests, start } = game();
  const ann = await signToken('ann');
  const first = start({ userToken: () => ann, childDirected: true });
  const { decisionId, outcome } = await first.ads.showRewarded('revive');
  expect(outcome).toBe('rewarded');
  first.ads.destroy();
  const second = start({ userRef: 'bob', childDirected: true });
  second.listen();
  expect(await second.ads.rewards()).toEqual([]);
  second.ads.setUser({ userToken: ann });
  await eventually(() => expect(second.received).toMatchObject([{ decisionId, userRef: 'ann' }]));
  expect(requests[0]).not.toHaveProperty('user_token');
});

it('waits for the token function to identify the player', async () => {
  const { start } = game();
  const first = start({ userToken: await signToken('ann') });
  const { decisionId } = await first.ads.showRewarded('revive');
  first.ads.destroy();
  const pendingToken = createDeferred<string>();
  const second = start({ userToken: () => pendingToken.promise });
  second.listen();
  expect(await second.ads.rewards()).toEqual([]);
  pendingToken.resolve(await signToken('ann'));
  await eventually(() => expect(second.received).toMatchObject([{ decisionId, userRef: 'ann' }]));
});

it('switches players when a user token names another player', async () => {
  const { start } = game();
  let token = await signToken('ann');
  const { ads, received, listen } = start({ userToken: () => token });
  await ads.showRewarded('revive');
  token = await signToken('bob');
  const { decisionId } = await ads.showRewarded('revive');
  listen();
  await eventually(() => expect(received).toMatchObject([{ decisionId, userRef: 'bob' }]));
});

it('discards the previous player’s preloaded ads', async () => {
  const { requests, start } = game();
  const { ads } = start({ userRef: 'guest', customData: 'level 1', segments: ['newcomer'] });
  await ads.preload('revive');
  const onChange = vi.fn();
  ads.on('change', onChange);
  ads.setUser({ userRef: 'ann' });
  expect(onChange).toHaveBeenCalled();
  await ads.showRewarded('revive');
  expect(requests).toHaveLength(2);
  expect(requests[0]).toMatchObject({ user_ref: 'guest', custom_data: 'level 1' });
  expect(requests[1]).toMatchObject({ user_ref: 'ann' });
  expect(requests[1]).not.toHaveProperty('custom_data');
  expect(requests[1]).not.toHaveProperty('segments');
});

it('an ad belongs to the player who started it', async () => {
  const { start } = game();
  const { ads, received, listen } = start({ userRef: 'ann' });
  listen();
  const { outcome } = await ads.showRewarded('revive', {
    onOpen: () => ads.setUser({ userRef: 'bob' }),
  });
  expect(outcome).toBe('rewarded');
  expect(await ads.rewards()).toEqual([]);
  ads.setUser({ userRef: 'ann' });
  await eventually(() => expect(received).toMatchObject([{ userRef: 'ann' }]));
});

it('transfers a guest’s rewards to the player that the guest signs in as', async () => {
  const { start } = game();
  const { ads, received, listen } = start({ userRef: 'guest' });
  await ads.showRewarded('revive');
  ads.setUser({ userRef: 'ann' }, { transferRewards: true });
  listen();
  await eventually(() => expect(received).toMatchObject([{ userRef: 'guest' }]));
  await eventually(async () => expect(await ads.rewards()).toEqual([]));
});

it.each([
  [{ locale: 'de' }, 'option_unknown', '`locale`'],
  [null, 'option_invalid', 'setUser()'],
])('rejects %j as a user and keeps the current user', async (user, code, expectedText) => {
  const { requests, start } = game();
  const { ads } = start({ userRef: 'ann' });
  const set = () => ads.setUser(user as never);
  expect(set).toThrow(expect.objectContaining({ name: 'OptionError', code }) as Error);
  expect(set).toThrow(expectedText);
  await ads.preload('revive');
  expect(requests).toMatchObject([{ user_ref: 'ann' }]);
});

it('rejects a user token if a later token names another player', async () => {
  const { requests, start } = game();
  const slowToken = createDeferred<string>();
  const bob = await signToken('bob');
  const tokens = [slowToken.promise];
  const { ads } = start({ userToken: () => tokens.shift() ?? bob });
  // The player switches accounts while the first call to the token function is in flight.
  const first = ads.showRewarded('revive');
  expect(await ads.preload('double-coins')).toMatchObject({ available: true });
  slowToken.resolve(await signToken('ann'));
  expect(await first).toMatchObject({ outcome: 'error', reason: 'user_token_failed' });
  expect(requests.map(({ user_token: token }) => token)).toEqual([bob]);
  // Bob is still the player, so his preloaded ad is still available.
  expect((await ads.showRewarded('double-coins')).outcome).toBe('rewarded');
  expect(requests).toHaveLength(1);
});

it('accepts a user token if a later token names the same player', async () => {
  const { requests, start } = game();
  const slowToken = createDeferred<string>();
  const ann = await signToken('ann');
  const tokens = [slowToken.promise];
  const { ads } = start({ userToken: () => tokens.shift() ?? ann });
  const first = ads.preload('revive');
  await ads.preload('double-coins');
  slowToken.resolve(ann);
  expect(await first).toMatchObject({ available: true });
  expect(requests).toHaveLength(2);
});

/** Shows an ad that the game's server requested, before the token function has identified the player. */
async function showBeforeIdentified({ service, start }: ReturnType<typeof game>) {
  const pendingToken = createDeferred<string>();
  const visit = start({ userToken: () => pendingToken.promise });
  const response = await service.fetch('https://ads.test/v1/decisions', {
    method: 'POST',
    body: JSON.stringify({ placement: 'revive' }),
  });
  await visit.ads.preload('revive', { decision: (await response.json()) as Decision });
  const { decisionId = '' } = await visit.ads.showRewarded('revive');
  return { ...visit, decisionId, pendingToken };
}

it('keeps the reward from a server-side decision for the player whom the token later identifies', async () => {
  const device = game();
  const { ads, decisionId, pendingToken } = await showBeforeIdentified(device);
  expect(await ads.rewards()).toEqual([]);
  pendingToken.resolve(await signToken('ann'));
  await eventually(async () => expect(await ads.rewards()).toMatchObject([{ decisionId }]));
  ads.destroy();
  const second = device.start({ userRef: 'bob' });
  second.listen();
  expect(await second.ads.rewards()).toEqual([]);
  second.ads.setUser({ userRef: 'ann' });
  await eventually(() => expect(second.received).toMatchObject([{ decisionId, userRef: 'ann' }]));
});

it('does not deliver the reward from a server-side decision to a player who signs in before the token arrives', async () => {
  const { ads, decisionId, received, listen, pendingToken } = await showBeforeIdentified(game());
  ads.setUser({ userRef: 'bob' });
  listen();
  expect(await ads.rewards()).toEqual([]);
  pendingToken.resolve(await signToken('ann'));
  expect(await ads.rewards()).toEqual([]);
  ads.setUser({ userRef: 'ann' });
  await eventually(() => expect(received).toMatchObject([{ decisionId, userRef: 'ann' }]));
});
