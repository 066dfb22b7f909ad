import type { SampleEvent } from '../page/sample-event.ts';

/** What every queue gets from its adapter, so that the page drives all of them alike. */
export interface Contestant {
  /** `endpoint` is where its requests go; the receiver takes anything below it. */
  init(endpoint: string): Promise<void>;
  /** A promise tells when the queue says that the event is stored; many never say. */
  enqueue(event: SampleEvent): Promise<unknown> | undefined;
  /** Send what is waiting, now. */
  flush(): Promise<unknown>;
}

declare global {
  interface Window {
    contestant: Contestant;
  }
}
