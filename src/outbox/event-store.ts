/** What is stored at once: the events of one task, each as the JSON that goes to the service. */
export interface EventRecord {
  /** The format of this record; another release may find it. */
  v: 1;
  /** Wall time when it was stored, in milliseconds. */
  at: number;
  events: string[];
}

/** A record as it was found; `value` is not trusted, another release may have written it. */
export interface StoredRecord {
  key: number;
  value: unknown;
}

/** An event that will not be sent, kept for whoever looks into it. */
export interface SetAside {
  reason: string;
  value: unknown;
}

/** Where events wait. Keys increase; what is stored later is read later. */
export interface EventStore {
  append(records: EventRecord[]): Promise<void>;
  /** The oldest records after `afterKey`, at most `limit`. */
  read(afterKey: number, limit: number): Promise<StoredRecord[]>;
  /** Removes every record from `first` to `last`. */
  remove(first: number, last: number): Promise<void>;
  /** Replaces the events of records that still exist; a record without events is removed. */
  rewrite(changes: { key: number; record: EventRecord }[]): Promise<void>;
  setAside(entries: SetAside[]): Promise<void>;
  close(): void;
}

/** A store that survives the page. */
export interface DurableStore extends EventStore {
  open(): Promise<void>;
  /** Tells when the storage takes long, and when it does no more. */
  onSlow?(listener: (isSlow: boolean) => void): void;
}

/** Whether a stored value is a record that this release understands. */
export const isEventRecord = (value: unknown): value is EventRecord => {
  const record = value as Partial<EventRecord> | null | undefined;
  return record?.v === 1 && typeof record.at === 'number' && Array.isArray(record.events);
};
