import type { Delivery, Webhook } from '@trueward/protocol/wire';
import { useRecordContext } from 'react-admin';
import type { Page } from '../api/cursors.ts';
import { query } from '../api/resources.ts';
import { useRead } from '../api/use-call.ts';

const reasons = {
  gone: 'Turned off: its server said that it is gone.',
  failing: 'Turned off: it failed for five days. It is tried once an hour.',
  operator: 'Turned off by an operator.',
};

/** How a webhook does, by its newest deliveries; read again every so many milliseconds. */
export function WebhookHealth({ refetchInterval }: { refetchInterval: number }) {
  const webhook = useRecordContext<Webhook>();
  const { data } = useRead<Page<Delivery>>(
    webhook && query(`/v1/webhooks/${webhook.id}/deliveries`, { limit: 20 }),
    { refetchInterval },
  );
  const { data: now } = useRead<Webhook>(webhook && `/v1/webhooks/${webhook.id}`, {
    refetchInterval,
  });
  const reason = (now ?? webhook)?.disabled_reason;
  if (reason) return <>{reasons[reason]}</>;
  if (!data) return <>…</>;
  return <>{describeHealth(data.data)}</>;
}

/** `Of the last 20, 18 arrived, 2 failed` */
function describeHealth(deliveries: readonly Delivery[]): string {
  if (deliveries.length === 0) return 'Nothing was sent yet.';
  const count = (state: Delivery['state']) =>
    deliveries.filter((delivery) => delivery.state === state).length;
  const failed = count('failed');
  const waiting = count('pending');
  return [
    deliveries.length === 1 ? 'Of one delivery' : `Of the last ${deliveries.length}`,
    `${count('delivered')} arrived`,
    ...(failed === 0 ? [] : [`${failed} failed`]),
    ...(waiting === 0 ? [] : [`${waiting} on their way`]),
  ].join(', ');
}
