import type { Creative, Decision, HouseAd, MistakeList, Placement } from '@trueward/protocol/wire';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { updatePlacement, turnOnKillSwitch } from './reward-operator.ts';
import { type FilledDecision, startGame, type Game } from './reward-game.ts';

let game: Game;
beforeAll(async () => {
  game = await startGame();
});
afterAll(() => game.stop());

const createDenial = (reason: string) => ({ state: 'denied', reason });
/** The position of each claim in a token. */
const claimIndexes = { environment: 2, placement: 3, issuedAtMs: 5, expiresAtMs: 6, userRef: 7 };
const setClaim = (token: string, claim: keyof typeof claimIndexes, value: string): string => {
  const dot = token.lastIndexOf('.');
  return (
    token.slice(0, dot).split('~').with(claimIndexes[claim], value).join('~') + token.slice(dot)
  );
};

test('a watched ad is rewarded', async () => {
  expect(await game.watch(await game.decide('honest'))).toMatchObject({ state: 'earned' });
});

test('an ad watched offline is rewarded hours later', async () => {
  const decision = await game.decide('traveler');
  game.advance(5_000);
  const events = [
    game.createEvent(decision, 'start'),
    game.createImpression(decision),
    game.createCompletion(decision),
  ];
  const formatTimeAgo = (ms: number) => new Date(game.clock.nowMs() - ms).toISOString();
  const [start, impression, complete] = events.map((event, index) => ({
    ...event,
    occurred_at: formatTimeAgo([5_000, 3_000, 0][index] ?? 0),
  }));
  if (!start || !impression || !complete) throw new Error('Expected three events.');
  // The completion arrives first, so the reward is pending until the impression arrives.
  game.advance(6 * 3_600_000);
  const { decisions } = await game.report(start, complete);
  expect(decisions).toMatchObject([{ state: 'pending', reason: 'no_impression' }]);
  game.advance(3_600_000);
  expect((await game.report(impression)).decisions).toMatchObject([{ state: 'earned' }]);
  expect(await game.countWebhookEvents('decision.rewarded', decision.id)).toBe(1);
});

describe('tokens', () => {
  test('a token with a modified player, placement or time is rejected', async () => {
    const decision = await game.decide('editor');
    game.advance(5_000);
    for (const [claim, value] of [
      ['userRef', 'victim'],
      ['placement', 'double-coins'],
      ['environment', 'live'],
      ['issuedAtMs', '0'],
      ['expiresAtMs', '9000000000000'],
    ] as const) {
      const token = setClaim(decision.token, claim, value);
      expect(token).not.toBe(decision.token);
      const { results } = await game.report({ ...game.createCompletion(decision), token });
      expect(results).toMatchObject([{ status: 'rejected', code: 'token_invalid' }]);
    }
    expect((await game.readRewardStatus(decision.id)).state).toBe('none');
  });

  test('a token with a missing or truncated signature is rejected', async () => {
    const decision = await game.decide('stripper');
    const body = decision.token.slice(0, decision.token.lastIndexOf('.'));
    for (const token of [body, `${body}.`, `${body}.AAAA`, `.${body}`, '.', '...']) {
      const { results } = await game.report({ ...game.createCompletion(decision), token });
      expect(results).toMatchObject([{ status: 'rejected', code: 'token_invalid' }]);
    }
  });

  test('a token cannot be used for another decision', async () => {
    const [ownDecision, otherDecision] = [await game.decide('mover'), await game.decide('mover')];
    game.advance(5_000);
    const { results } = await game.report({
      ...game.createCompletion(otherDecision),
      token: ownDecision.token,
    });
    expect(results).toMatchObject([{ status: 'rejected', code: 'decision_mismatch' }]);
  });

  test('a sandbox token earns nothing with a live key', async () => {
    const decision = await game.decide('sandbox-player');
    game.advance(5_000);
    const { body } = await game.client.call<{ results: object[] }>(
      'POST',
      '/v1/events',
      game.keys.live.publishable,
      {
        sent_at: new Date(game.clock.nowMs()).toISOString(),
        events: [game.createCompletion(decision)],
      },
      { 'user-agent': 'Mozilla/5.0 Chrome/140.0.0.0' },
    );
    expect(body.results).toMatchObject([{ status: 'rejected', code: 'environment_mismatch' }]);
  });
});

describe('replay', () => {
  test('repeated completions do not earn another reward', async () => {
    const decision = await game.decide('replayer');
    await game.report(game.createEvent(decision, 'start'));
    game.advance(5_000);
    const complete = game.createCompletion(decision);
    await game.report(game.createImpression(decision), complete);
    expect((await game.report(complete)).results).toMatchObject([{ status: 'duplicate' }]);
    game.advance(20_000);
    await game.report(game.createImpression(decision), game.createCompletion(decision));
    expect(await game.countWebhookEvents('decision.rewarded', decision.id)).toBe(1);
    expect(await game.countWebhookEvents('decision.served', decision.id)).toBe(1);
  });

  test('a device with restored storage does not earn another reward', async () => {
    const decision = await game.decide('rewinder');
    const start = game.createEvent(decision, 'start');
    await game.report(start);
    game.advance(5_000);
    const events = [game.createImpression(decision), game.createCompletion(decision)];
    await game.report(...events);
    const earnedBefore = await game.readReportCount('rewards_earned');
    game.advance(3_600_000);
    const { results, decisions } = await game.report(start, ...events);
    expect(results.map(({ status }) => status)).toEqual(['duplicate', 'duplicate', 'duplicate']);
    expect(decisions).toMatchObject([{ state: 'earned' }]);
    expect(await game.readReportCount('rewards_earned')).toBe(earnedBefore);
  });
});

describe('time', () => {
  test('a completion before the ad could have ended is permanently denied', async () => {
    const decision = await game.decide('early');
    // A completion that is early by less than two seconds waits, because the clocks of two processes may differ.
    game.advance(2_700);
    await game.report(
      game.createEvent(decision, 'start'),
      game.createImpression(decision),
      game.createCompletion(decision),
    );
    game.advance(60_000);
    await game.report(game.createCompletion(decision));
    expect(await game.readRewardStatus(decision.id)).toMatchObject(
      createDenial('impossible_timing'),
    );
  });

  test('setting the device clock ahead does not shorten the watch time', async () => {
    const decision = await game.decide('clock-setter');
    const createTime = (ms: number) => new Date(game.clock.nowMs() + ms).toISOString();
    game.advance(1_000);
    const events = [
      { ...game.createEvent(decision, 'start'), occurred_at: createTime(3_600_000) },
      { ...game.createImpression(decision), occurred_at: createTime(3_602_000) },
      { ...game.createCompletion(decision), occurred_at: createTime(3_605_000) },
    ];
    const body = { sent_at: createTime(3_605_000), events };
    await game.client.call('POST', '/v1/events', game.client.publishable, body);
    expect(await game.readRewardStatus(decision.id)).toMatchObject(
      createDenial('impossible_timing'),
    );
  });

  test('a page running at 16 times real speed earns no more than real time allows', async () => {
    const ads = [];
    for (let count = 0; count < 6; count += 1) ads.push(await game.decide('speeder'));
    const loadedAtMs = game.clock.nowMs();
    game.advance(10_000);
    // How far the page's clock is ahead of real time.
    let aheadMs = 0;
    const pass = (ms: number) => {
      game.advance(ms / 16);
      aheadMs += (ms * 15) / 16;
    };
    const post = (event: object) => {
      const sentAt = new Date(game.clock.nowMs() + aheadMs).toISOString();
      return game.client.call('POST', '/v1/events', game.client.publishable, {
        sent_at: sentAt,
        events: [{ ...event, occurred_at: sentAt }],
      });
    };
    for (const ad of ads) {
      await post(game.createEvent(ad, 'start'));
      pass(2_000);
      await post(game.createImpression(ad));
      pass(3_200);
      await post(game.createCompletion(ad));
    }
    const elapsedMs = game.clock.nowMs() - loadedAtMs;
    const states = await Promise.all(ads.map(({ id }) => game.readRewardStatus(id)));
    const earnedCount = states.filter(({ state }) => state === 'earned').length;
    expect(earnedCount * 4_750).toBeLessThanOrEqual(elapsedMs);
    expect(states.some(({ reason }) => reason === 'overlapping_watch')).toBe(true);
  });

  test('an ad whose quartiles arrive faster than it plays is not rewarded', async () => {
    const decision = await game.decide('skipper');
    game.advance(60_000);
    await game.report(game.createEvent(decision, 'start'));
    game.advance(50);
    await game.report(
      game.createEvent(decision, 'first_quartile'),
      game.createEvent(decision, 'midpoint'),
      game.createEvent(decision, 'third_quartile'),
    );
    game.advance(5_000);
    await game.report(game.createImpression(decision), game.createCompletion(decision));
    expect(await game.readRewardStatus(decision.id)).toMatchObject({
      state: 'pending',
      reason: 'impossible_timing',
    });
    game.advance(86_400_001);
    await game.expire();
    expect(await game.readRewardStatus(decision.id)).toMatchObject({ state: 'expired' });
  });

  test('an ad in a background tab is not rewarded', async () => {
    const decision = await game.decide('background');
    await game.report(game.createEvent(decision, 'start'));
    game.advance(30_000);
    await game.report(
      game.createImpression(decision),
      game.createEvent(decision, 'complete', { watched_ms: 900 }),
    );
    expect(await game.readRewardStatus(decision.id)).toMatchObject({
      state: 'pending',
      reason: 'watched_too_little',
    });
    game.advance(86_400_001);
    await game.expire();
    expect(await game.readRewardStatus(decision.id)).toMatchObject({ state: 'expired' });
  });

  test('an ad without an impression is not rewarded', async () => {
    const decision = await game.decide('hidden');
    await game.report(game.createEvent(decision, 'start'));
    game.advance(5_000);
    await game.report(
      game.createEvent(decision, 'impression', { visible: { ratio: 0.2, ms: 5_000 } }),
      game.createCompletion(decision),
    );
    expect(await game.readRewardStatus(decision.id)).toMatchObject({
      state: 'pending',
      reason: 'no_impression',
    });
  });

  test('an expired ad cannot be started', async () => {
    const decision = await game.decide('hoarder');
    game.advance(700_000);
    const { results } = await game.report(
      game.createEvent(decision, 'start'),
      game.createImpression(decision),
      game.createEvent(decision, 'viewable', { visible: { ratio: 1, ms: 2_000 } }),
      game.createCompletion(decision),
    );
    expect(results.map(({ code }) => code)).toEqual(['expired', 'expired', undefined, undefined]);
    expect(await game.readRewardStatus(decision.id)).toMatchObject({ state: 'pending' });
  });

  test('a completion after the late window is rejected', async () => {
    const decision = await game.decide('latecomer');
    await game.report(game.createEvent(decision, 'start'));
    game.advance(86_400_001);
    await game.report(game.createImpression(decision), game.createCompletion(decision));
    expect(await game.readRewardStatus(decision.id)).toMatchObject({
      state: 'expired',
      reason: 'late',
    });
  });
});

describe('concurrency', () => {
  test('a player who watches ads on two devices at the same time earns one reward', async () => {
    const [phone, desktop] = [await game.decide('two-devices'), await game.decide('two-devices')];
    await Promise.all([phone, desktop].map((ad) => game.report(game.createEvent(ad, 'start'))));
    game.advance(5_000);
    await Promise.all(
      [phone, desktop].map((ad) =>
        game.report(game.createImpression(ad), game.createCompletion(ad)),
      ),
    );
    const states = await Promise.all([phone, desktop].map(({ id }) => game.readRewardStatus(id)));
    expect(states.map(({ state }) => state).toSorted()).toEqual(['earned', 'pending']);
    expect(states.find(({ state }) => state === 'pending')?.reason).toBe('overlapping_watch');
  });

  test('ads whose events arrive in one request share a frequency cap', async () => {
    await updatePlacement(game, 'double-coins', { frequency_cap: { max: 1, per_s: 3_600 } });
    const events = [];
    for (let count = 0; count < 2; count += 1) {
      const ad = await game.decide('batcher', { placement: 'double-coins' });
      events.push(game.createEvent(ad, 'start'));
      game.advance(5_000);
      events.push(game.createImpression(ad), game.createCompletion(ad));
    }
    const { decisions } = await game.report(...events);
    const capped = { state: 'pending', reason: 'frequency_capped' };
    expect(decisions).toMatchObject([{ state: 'earned' }, capped]);
    await updatePlacement(game, 'double-coins', { frequency_cap: undefined });
  });

  test('players who share a reference by the game’s mistake are never denied for good', async () => {
    const ads = await Promise.all(Array.from({ length: 30 }, () => game.decide('guest')));
    await Promise.all(ads.map((ad) => game.report(game.createEvent(ad, 'start'))));
    game.advance(5_000);
    for (const ad of ads) await game.report(game.createImpression(ad), game.createCompletion(ad));
    const states = await Promise.all(ads.map(({ id }) => game.readRewardStatus(id)));
    const count = (name: string) => states.filter(({ state }) => state === name).length;
    expect([count('earned'), count('pending')]).toEqual([1, 29]);
    const { body } = await game.client.call<MistakeList>('GET', '/v1/mistakes', game.client.secret);
    expect(body.data.map(({ name }) => name)).toContain('shared_user_ref');
    await expect
      .poll(async () => (await fetch(`${game.url}/metrics`)).text())
      .toContain('trueward_integration_mistakes{name="shared_user_ref"} 1');
    // A minute later, the service looks again, and a client of the sandbox tells the developer.
    game.advance(60_000);
    await expect
      .poll(async () => (await game.decide('developer')).mistakes?.map(({ name }) => name))
      .toContain('shared_user_ref');
  });

  test('ten ads loaded together earn no more than real time allows', async () => {
    const ads = await Promise.all(Array.from({ length: 10 }, () => game.decide('farmer')));
    const startedAtMs = game.clock.nowMs();
    // The event times take full advantage of the tolerances.
    for (const [index, ad] of ads.entries()) {
      game.clock.set(Math.max(game.clock.nowMs(), startedAtMs + 5_000 + index * 3_000));
      const startedAt = new Date(Math.max(startedAtMs, game.clock.nowMs() - 4_000)).toISOString();
      await game.report(
        { ...game.createEvent(ad, 'start'), occurred_at: startedAt },
        game.createImpression(ad),
        game.createCompletion(ad),
      );
    }
    const elapsedMs = game.clock.nowMs() - startedAtMs;
    const states = await Promise.all(ads.map(({ id }) => game.readRewardStatus(id)));
    const earnedCount = states.filter(({ state }) => state === 'earned').length;
    expect(earnedCount * 4_750).toBeLessThanOrEqual(elapsedMs + 1_250);
  });

  test('ads requested but never watched do not affect a later reward', async () => {
    for (const placement of ['revive', 'lobby'])
      await Promise.all(Array.from({ length: 61 }, () => game.decide('victim', { placement })));
    const ad = await game.decide('victim');
    await game.watch(ad);
    expect(await game.readRewardStatus(ad.id)).toMatchObject({ state: 'earned' });
  });

  test('a frequency cap applies to ads that are already loaded', async () => {
    await updatePlacement(game, 'double-coins', { frequency_cap: { max: 1, per_s: 3_600 } });
    const request = () => game.decide('collector', { placement: 'double-coins' });
    const [firstAd, secondAd] = [await request(), await request()];
    game.advance(20_000);
    const formatTimeAgo = (ms: number) => new Date(game.clock.nowMs() - ms).toISOString();
    // The later completion arrives first. The cap must not depend on the order of arrival.
    for (const [ad, startedMsAgo] of [
      [firstAd, 7_000],
      [secondAd, 17_000],
    ] as const) {
      await game.report(
        { ...game.createEvent(ad, 'start'), occurred_at: formatTimeAgo(startedMsAgo) },
        { ...game.createImpression(ad), occurred_at: formatTimeAgo(startedMsAgo - 2_000) },
        { ...game.createCompletion(ad), occurred_at: formatTimeAgo(startedMsAgo - 5_000) },
      );
    }
    expect(await game.readRewardStatus(firstAd.id)).toMatchObject({ state: 'earned' });
    const capped = { state: 'pending', reason: 'frequency_capped' };
    expect(await game.readRewardStatus(secondAd.id)).toMatchObject(capped);
    // Reporting more changes nothing.
    await game.report(game.createImpression(secondAd), game.createCompletion(secondAd));
    expect(await game.readRewardStatus(secondAd.id)).toMatchObject(capped);
    game.advance(86_400_001);
    await game.expire();
    expect(await game.readRewardStatus(secondAd.id)).toMatchObject({ state: 'expired' });
    await updatePlacement(game, 'double-coins', { frequency_cap: undefined });
  });
});

test('with a frequency cap of one, only the first of two tabs earns a reward', async () => {
  await updatePlacement(game, 'double-coins', { frequency_cap: { max: 1, per_s: 3_600 } });
  const request = () => game.decide('two-tabs', { placement: 'double-coins' });
  const ads = [await request(), await request()] as const;
  for (const ad of ads) await game.report(game.createEvent(ad, 'start'));
  game.advance(2_000);
  for (const ad of ads) await game.report(game.createImpression(ad));
  game.advance(18_000);
  for (const ad of ads) await game.report(game.createCompletion(ad));
  expect(await game.readRewardStatus(ads[0].id)).toMatchObject({ state: 'earned' });
  expect(await game.readRewardStatus(ads[1].id)).toMatchObject({
    state: 'pending',
    reason: 'frequency_capped',
  });
  await updatePlacement(game, 'double-coins', { frequency_cap: undefined });
});

test('players who share a reference by the game’s mistake are not denied by its cap', async () => {
  await updatePlacement(game, 'double-coins', { frequency_cap: { max: 2, per_s: 3_600 } });
  const ads = [];
  for (let device = 0; device < 10; device += 1)
    ads.push(await game.decide('everybody', { placement: 'double-coins' }));
  const states: (string | undefined)[] = [];
  for (const ad of ads) {
    game.advance(20_000);
    states.push((await game.watch(ad))?.state);
  }
  const count = (name: string) => states.filter((state) => state === name).length;
  // The cap still bounds what one reference is paid.
  expect([count('earned'), count('pending'), count('denied')]).toEqual([2, 8, 0]);
  await updatePlacement(game, 'double-coins', { frequency_cap: undefined });
});

describe('ads that were requested before their placement was archived', () => {
  const request = async (name: string, members: Partial<Placement>, count = 1) => {
    const { client } = game;
    const { data } = await client.manage<{ data: Creative[] }>('GET', '/v1/creatives');
    const creative = data.find(({ media }) => media.format === 'image');
    const placement = await client.manage<Placement>('POST', '/v1/placements', {
      name,
      format: 'rewarded',
      reward: { type: 'coins', amount: 1 },
      ...members,
    });
    const houseAd = await client.manage<HouseAd>('POST', '/v1/house-ads', {
      name,
      creative_id: creative?.id,
      placements: [name],
    });
    const decisions: FilledDecision[] = [];
    while (decisions.length < count) decisions.push(await game.decide(name, { placement: name }));
    const archive = async () => {
      await client.manage('DELETE', `/v1/house-ads/${houseAd.id}`);
      await client.manage('DELETE', `/v1/placements/${placement.id}`);
    };
    return { placement, decisions, archive };
  };
  const watch = async (decisions: readonly FilledDecision[]) => {
    const states: unknown[] = [];
    for (const decision of decisions) states.push((await game.watch(decision))?.state);
    return states;
  };

  test.each<[string, Partial<Placement>, string[]]>([
    ['season-1', {}, ['earned', 'earned', 'earned']],
    ['season-2', { frequency_cap: { max: 1, per_s: 86_400 } }, ['earned', 'pending', 'pending']],
    ['season-3', { cooldown_s: 600 }, ['earned', 'pending', 'pending']],
  ])('of %s earn what its limits %j allow', async (name, limits, states) => {
    const { decisions, archive } = await request(name, limits, 3);
    await archive();
    expect(await watch(decisions)).toEqual(states);
  });

  test('earn nothing if a kill switch names the placement by its id', async () => {
    const { placement, decisions, archive } = await request('season-4', {});
    const turnOff = await turnOnKillSwitch(game, placement.id);
    await archive();
    expect(await watch(decisions)).toEqual(['denied']);
    await turnOff();
  });
});

describe('traffic', () => {
  test('traffic from a self-declared bot is counted, but neither billed nor rewarded', async () => {
    const headers = { 'user-agent': 'Mozilla/5.0 (compatible; Examplebot/1.0)' };
    const request = { placement: 'revive', user_ref: 'bot', formats: ['image'] };
    const { body: decision } = await game.client.call<Decision & { token: string }>(
      'POST',
      '/v1/decisions',
      game.client.publishable,
      request,
      headers,
    );
    await game.watch(decision);
    expect(await game.readRewardStatus(decision.id)).toMatchObject(createDenial('invalid_traffic'));
    expect(await game.countWebhookEvents('decision.served', decision.id)).toBe(0);
    expect(await game.readReportCount('invalid_traffic', 'bot')).toBeGreaterThan(0);
  });

  test('events in an impossible order count as invalid traffic', async () => {
    const decision = await game.decide('script');
    game.advance(20_000);
    const formatTimeAgo = (ms: number) => new Date(game.clock.nowMs() - ms).toISOString();
    await game.report(
      { ...game.createEvent(decision, 'start'), occurred_at: formatTimeAgo(1_000) },
      { ...game.createImpression(decision), occurred_at: formatTimeAgo(8_000) },
      { ...game.createCompletion(decision), occurred_at: formatTimeAgo(10_000) },
    );
    expect(await game.readRewardStatus(decision.id)).toMatchObject(createDenial('invalid_traffic'));
    expect(await game.readReportCount('invalid_traffic', 'impossible_order')).toBe(1);
    expect(await game.countWebhookEvents('decision.served', decision.id)).toBe(0);
  });

  test('a kill switch denies the reward for an ad that is playing', async () => {
    const decision = await game.decide('killed', { placement: 'double-coins' });
    await game.report(game.createEvent(decision, 'start'));
    game.advance(5_000);
    await game.report(game.createImpression(decision));
    const turnOff = await turnOnKillSwitch(game, 'double-coins');
    const { results } = await game.report(game.createCompletion(decision));
    expect(results).toMatchObject([{ status: 'rejected', code: 'killed' }]);
    await turnOff();
    await game.report(game.createCompletion(decision));
    expect(await game.readRewardStatus(decision.id)).toMatchObject(createDenial('killed'));
  });

  test('a publishable key without the decision token cannot read rewards', async () => {
    const decision = await game.decide('stolen-key');
    const { call, publishable } = game.client;
    const path = `/v1/decisions/${decision.id}`;
    expect((await call('GET', path, publishable)).status).toBe(403);
    const otherDecision = await game.decide('stolen-key');
    const headers = { 'decision-token': otherDecision.token };
    expect((await call('GET', path, publishable, undefined, headers)).status).toBe(403);
    expect((await call('GET', '/v1/webhooks', publishable)).status).toBe(403);
  });
});
