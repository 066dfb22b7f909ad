import { afterEach, expect, it, vi } from 'vitest';
import { type Ads, createAds } from '../../../src/index.ts';
import { eventually } from '../../support/eventually.ts';
import { createPublishableKey, createStubService } from '../../support/stub-service.ts';

let ads: Ads;
afterEach(() => ads.destroy());

function start(debug: boolean) {
  const service = createStubService();
  const { fetch } = service;
  let shouldFail = true;
  service.fetch = async (input, init) => {
    const { pathname } = new URL(input instanceof Request ? input.url : input);
    if (pathname === '/v1/events' && shouldFail) {
      shouldFail = false;
      throw new TypeError('Failed to fetch');
    }
    return fetch(input, init);
  };
  const info = vi.spyOn(console, 'info').mockReturnValue();
  ads = createAds({
    publishableKey: createPublishableKey(),
    serviceUrl: 'https://ads.test',
    userRef: 'player-1',
    fetch: service.fetch,
    debug,
  });
  ads.on('reward', () => undefined);
  return { service, lines: () => info.mock.calls.map(([line]) => String(line)) };
}

it('logs each request, response, ad break step, reward and failure on a single line', async () => {
  const { lines } = start(true);
  const { decisionId } = await ads.showRewarded('revive');
  await eventually(() => expect(lines().join('\n')).toContain('delivered to the game'));
  const log = lines();
  expect(log.filter((line) => !line.startsWith('[trueward] ') || line.includes('\n'))).toEqual([]);
  const expectedLines = [
    '[trueward] ad break: begin',
    '[trueward] POST /v1/decisions',
    `[trueward] decision for revive: filled, image, ${decisionId}`,
    '[trueward] ad break: open',
    '[trueward] ad break: start',
    '[trueward] ad break: released',
    `[trueward] reward for ${decisionId}: pending, 50 coins`,
  ];
  expect(log.filter((line) => expectedLines.includes(line))).toEqual(expectedLines);
  expect(log).toContainEqual(
    expect.stringMatching(
      /POST \/v1\/events → TypeError: Failed to fetch after \d+ ms \(the events/,
    ),
  );
  expect(log).toContainEqual(expect.stringMatching(/POST \/v1\/decisions → 200 after \d+ ms$/));
  expect(log).toContainEqual(
    expect.stringMatching(`result for revive: (rewarded|pending), ${decisionId}`),
  );
  expect(log.at(-1)).toBe(
    `[trueward] reward for ${decisionId}: earned, 50 coins, delivered to the game`,
  );
});

it('logs nothing by default', async () => {
  const { lines } = start(false);
  await ads.showRewarded('revive');
  expect(lines()).toEqual([]);
});
