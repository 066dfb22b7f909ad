import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { expect } from 'vitest';
import type { DecisionRewardedEvent } from '../../../src/server/index.ts';
import { createDemand } from '../../../service/test/demo-demand.ts';
import { it } from '../worker.ts';

it('the webhook contains the custom data passed to the call that showed the ad', async ({
  browser,
  stack,
}) => {
  const customData = new Map<string, string | undefined>();
  const receiver = createServer((request, response) => {
    void text(request).then((body) => {
      const { data } = JSON.parse(body) as DecisionRewardedEvent;
      customData.set(data.decision_id, data.custom_data);
      response.end();
    });
  });
  await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve));
  const page = await browser.newPage();
  try {
    const demand = createDemand({ url: stack.serviceUrl, keys: stack.keys });
    const webhook = await demand.call<{ id: string }>('POST', 'webhooks', {
      url: `http://127.0.0.1:${(receiver.address() as AddressInfo).port}`,
      events: ['decision.rewarded'],
    });
    await page.goto(stack.pageFor('custom-data'));
    await page.evaluate(() => window.ads.preload('revive', { customData: 'level-6' }));
    const resultPromise = page.evaluate(() =>
      window.ads.showRewarded('revive', { customData: 'level-7' }),
    );
    await page.getByText('Your reward is on its way').first().waitFor();
    await page.getByRole('button', { name: 'Close ad' }).first().click();
    const { decisionId = '', outcome } = await resultPromise;
    expect(outcome).toBe('rewarded');
    await expect.poll(() => customData.get(decisionId)).toBe('level-7');
    // Other tests use the same stack, and their rewards would also be sent to this webhook.
    await demand.call('PATCH', `webhooks/${webhook.id}`, { status: 'disabled' });
  } finally {
    await page.context().close();
    receiver.closeAllConnections();
    receiver.close();
  }
});
