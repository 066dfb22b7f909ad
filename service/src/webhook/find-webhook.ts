import type { Webhook } from '@trueward/protocol/wire';
import type { Configuration } from '../decision/configuration.ts';
import type { Scope } from '../store/database.ts';

/** Another process may have registered it a moment ago, so what is not known is looked for once more. */
export async function findWebhook(
  configuration: Configuration,
  scope: Scope,
  id: string,
): Promise<Webhook | undefined> {
  const find = () => configuration.snapshot(scope).webhooks.find((webhook) => webhook.id === id);
  const known = find();
  if (known) return known;
  await configuration.refresh();
  return find();
}
