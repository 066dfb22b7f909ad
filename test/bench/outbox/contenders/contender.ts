import type { SampleEvent } from '../page/sample-event.ts';

/** The interface that each queue's adapter implements. */
export interface Contender {
  /** Sets up the queue with the receiver's URL. The receiver accepts any path under `endpoint`. */
  init(endpoint: string): Promise<void>;
  /**
   * Enqueues an event. The promise resolves when the queue reports that the event is stored. Returns undefined if the
   * queue never reports this, as is the case for many queues.
   */
  enqueue(event: SampleEvent): Promise<unknown> | undefined;
  /** Sends queued events immediately. */
  flush(): Promise<unknown>;
}

declare global {
  interface Window {
    contender: Contender;
  }
}
