import type { SampleEvent } from '../page/sample-event.ts';

/** The common interface of all queues, implemented by their adapters. */
export interface Contestant {
  /** Requests go to `endpoint`; the receiver accepts any path below it. */
  init(endpoint: string): Promise<void>;
  /** The promise, if any, resolves when the queue reports the event as stored; many never do. */
  enqueue(event: SampleEvent): Promise<unknown> | undefined;
  /** Sends queued events now. */
  flush(): Promise<unknown>;
}

declare global {
  interface Window {
    contestant: Contestant;
  }
}
