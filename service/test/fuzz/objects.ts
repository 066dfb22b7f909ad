import { createClient } from '../http/client.ts';
import type { InProcessService } from '../in-process.ts';

/**
 * Creates or finds one sandbox object of each kind in the demo account. Returns their ids, keyed by the path segment
 * after `/v1`.
 */
export async function createObjects(running: InProcessService): Promise<Record<string, string>> {
  const client = createClient(running);
  const post = async (path: string, body: object): Promise<string> => {
    const response = await client.call<{ id: string }>('POST', path, client.secret, body);
    if (response.status >= 300) throw new Error(`${path}: ${JSON.stringify(response.body)}`);
    return response.body.id;
  };
  const readFirstId = async (path: string): Promise<string> => {
    const { body } = await client.call<{ data: { id: string }[] }>('GET', path, client.secret);
    return body.data[0]?.id ?? '';
  };
  const policy = { name: 'P', kind: 'policy', block: { domains: ['nowhere.example'] } };
  const webhook = { url: 'https://receiver.example/', events: ['decision.served'] };
  const webhookId = await post('/v1/webhooks', webhook);
  // It has no id: its type is its name in each environment.
  await client.call('PUT', '/v1/grant-budgets/coins', client.secret, { amount: 100 });
  return {
    placements: await readFirstId('/v1/placements'),
    sources: await readFirstId('/v1/sources'),
    advertisers: await readFirstId('/v1/advertisers'),
    creatives: await readFirstId('/v1/creatives'),
    'house-ads': await readFirstId('/v1/house-ads'),
    policies: await post('/v1/policies', policy),
    'ad-rules': await post('/v1/ad-rules', { formats: ['banner'], max_per_day: 100 }),
    'kill-switches': await post('/v1/kill-switches', {
      scope: 'placement',
      target_id: 'lobby',
      state: 'off',
    }),
    webhooks: webhookId,
    deliveries: await post(`/v1/webhooks/${webhookId}/test`, {}),
    jobs: await post(`/v1/webhooks/${webhookId}/recover?since=2026-01-01T00:00:00Z`, {}),
    keys: await post('/v1/keys', { kind: 'secret' }),
    decisions: (await client.decideImage('somebody')).id,
  };
}
