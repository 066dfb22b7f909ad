import type { AdEvent, EventBatch, EventBatchResult } from '../../protocol/wire.ts';
import type { NewAdEvent } from '../../src/outbox/outbox.ts';
import type {
  ServiceResult,
  Call,
  Guard,
  ServiceClient,
} from '../../src/transport/service-client.ts';

export interface EventService extends ServiceClient {
  sendEvents(
    body: string,
    options: { keepalive: boolean },
  ): Promise<ServiceResult<EventBatchResult>>;
  /** Accepts a batch without injecting a fault. */
  accept(batch: EventBatch): ServiceResult<EventBatchResult>;
  requests: { batch: EventBatch; keepalive: boolean }[];
  /** Ids of the counted events, in the order in which they were counted. */
  counted: string[];
  /** Faults to inject into the next requests, in order. `undefined` means no fault for that request. */
  faults: (((batch: EventBatch) => Promise<ServiceResult<EventBatchResult>>) | undefined)[];
  /** Returns the code with which to reject an event, or `undefined` to accept it. */
  reject(event: AdEvent): EventBatchResult['results'][number]['code'] | undefined;
}

/** Creates a service client that counts each event id only once, like the real service. */
export function createEventService(): EventService {
  const service: EventService = {
    requests: [],
    counted: [],
    faults: [],
    reject: () => undefined,
    async sendEvents(body, options) {
      const batch = JSON.parse(body) as EventBatch;
      service.requests.push({
        batch,
        keepalive: options.keepalive,
      });
      const fault = service.faults.shift();
      return fault ? fault(batch) : service.accept(batch);
    },
    accept(batch) {
      const results = batch.events.map((event): EventBatchResult['results'][number] => {
        const code = service.reject(event);
        if (code) return { id: event.id, status: 'rejected', code };
        if (service.counted.includes(event.id)) return { id: event.id, status: 'duplicate' };
        service.counted.push(event.id);
        return { id: event.id, status: 'accepted' };
      });
      const ids = new Set(batch.events.map(({ decision_id: id }) => id));
      const decisions = [...ids].map((id) => ({ id, state: 'pending' as const }));
      return { kind: 'ok', body: { results, decisions } };
    },
    async call<T>(_path: string, _guard: Guard<T>, { body, keepalive = false }: Call) {
      return (await service.sendEvents(body as string, { keepalive })) as ServiceResult<T>;
    },
  };
  return service;
}

/** Creates an event for the decision `dec_1`. */
export const createAdEvent = (
  type: AdEvent['type'] = 'impression',
  detail?: string,
): NewAdEvent => ({
  type,
  decision_id: 'dec_1',
  token: 'token',
  ...(detail !== undefined && { detail }),
});
