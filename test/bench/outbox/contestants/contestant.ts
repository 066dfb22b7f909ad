import type { SampleEvent } from '../page/sample-event.ts';

/** The common interface of all queues. Each queue has an adapter. */
export interface Contestant {
  /** Sets up the queue with the URL of the receiver. The receiver accepts any path below `endpoint`. */
  init(endpoint: string): Promise<void>;
  /**
   * Enqueues an event. The promise resolves when the queue reports that the event is stored. Many queues never report
   * it.
   */
  enqueue(event: SampleEvent): Promise<unknown> | undefined;
  /** Sends queued events now. */
  flush(): Promise<unknown>;
}

declare global {
  interface Window {
    contestant: Contestant;
  }
}
