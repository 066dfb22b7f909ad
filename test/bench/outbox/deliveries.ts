import { findSampleIds } from './page/sample-event.ts';

/** The events that arrived at the receiver. */
export interface Tally {
  /** Number of events that arrived at least once. */
  arrived: number;
  /** Number of arrivals that repeat an earlier arrival of the same event. */
  duplicateSends: number;
  /**
   * How many of these duplicates have a different message id and would therefore be double-counted by the queue's
   * service.
   */
  duplicatesAfterDeduplication: number;
  requests: number;
}

/** Counts a run's events by their sample ids and by the message ids that the queue assigned. */
export interface Deliveries {
  addRequest(): number;
  add(body: string): void;
  tally(): Tally;
  has(sampleId: string): boolean;
}

/** Counts the events that belong to `run`. `messageId` is the name of the field with the message id. */
export function createDeliveries(run: string, messageId: string | undefined): Deliveries {
  const sends = new Map<string, number>();
  const messageIds = new Map<string, Set<string>>();
  let requests = 0;
  const isFromRun = (id: string): boolean => id.startsWith(`eid-${run}-`);
  return {
    addRequest: () => ++requests,
    add(body) {
      for (const [sampleId, message] of findEvents(body, messageId)) {
        if (!isFromRun(sampleId)) continue;
        sends.set(sampleId, (sends.get(sampleId) ?? 0) + 1);
        messageIds.set(sampleId, (messageIds.get(sampleId) ?? new Set()).add(message));
      }
    },
    tally() {
      const total = [...sends.values()].reduce((sum, count) => sum + count, 0);
      const distinctCount = [...messageIds.values()].reduce((sum, ids) => sum + ids.size, 0);
      return {
        arrived: sends.size,
        duplicateSends: total - sends.size,
        duplicatesAfterDeduplication: distinctCount - sends.size,
        requests,
      };
    },
    has: (sampleId) => sends.has(sampleId),
  };
}

/**
 * Finds all sample events in a body. Maps each sample id to the message id from the innermost object that contains the
 * event and has a message id.
 */
function findEvents(body: string, messageId: string | undefined): Map<string, string> {
  const messagesBySample = new Map<string, string>();
  const walk = (value: unknown, outerMessage: string): void => {
    if (typeof value === 'string')
      for (const id of findSampleIds(value)) messagesBySample.set(id, outerMessage);
    if (typeof value !== 'object' || value === null) return;
    const ownId: unknown = messageId === undefined ? undefined : Reflect.get(value, messageId);
    const message = typeof ownId === 'string' ? ownId : outerMessage;
    for (const part of Object.values(value)) walk(part, message);
  };
  for (const document of parseDocuments(body)) walk(document, '');
  return messagesBySample;
}

/** Parses a body that is a single JSON document or newline-delimited JSON (Sentry's envelopes). */
function parseDocuments(body: string): unknown[] {
  const parse = (text: string): unknown[] => {
    try {
      return [JSON.parse(text)];
    } catch {
      // Other formats, such as forms, are searched as text, which finds the events but not their message ids.
      return [text];
    }
  };
  const documents = parse(body);
  return typeof documents[0] === 'object' ? documents : body.split('\n').flatMap(parse);
}
