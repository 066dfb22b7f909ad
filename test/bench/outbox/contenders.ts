/** A queue that the benchmark measures. */
export interface ContenderInfo {
  name: string;
  /**
   * - `limit`: bare storage that sends nothing. It shows the best result that IndexedDB allows.
   * - `control`: no queue. It is the baseline, which shows the overhead of the machine and the browser alone.
   */
  kind: 'ours' | 'limit' | 'peer' | 'control';
  /** Its npm package, if any. */
  package?: string;
  /** The file in `contenders/`. */
  file?: string;
  /** The request field that holds the id by which the queue's service deduplicates events. */
  messageId?: string;
  note: string;
}

/** All contenders, in table order. */
export const contenders: ContenderInfo[] = [
  {
    name: 'ours',
    kind: 'ours',
    file: 'ours.ts',
    messageId: 'id',
    note: 'IndexedDB, one record per task',
  },
  {
    name: 'raw-group',
    kind: 'limit',
    file: 'raw-group.ts',
    note: 'raw IndexedDB, the events of a task in one transaction',
  },
  {
    name: 'raw-each',
    kind: 'limit',
    file: 'raw-each.ts',
    note: 'raw IndexedDB, one put and one transaction per event',
  },
  {
    name: 'idb-keyval',
    kind: 'limit',
    package: 'idb-keyval',
    file: 'idb-keyval.ts',
    note: '`set` per event',
  },
  {
    name: 'workbox',
    kind: 'peer',
    package: 'workbox-background-sync',
    file: 'workbox.mjs',
    messageId: 'id',
    note: 'its queue, replayed from the page instead of a service worker',
  },
  {
    name: 'sentry',
    kind: 'peer',
    package: '@sentry/browser',
    file: 'sentry.mjs',
    messageId: 'event_id',
    note: 'its offline transport, limit raised from 30',
  },
  {
    name: 'snowplow',
    kind: 'peer',
    package: '@snowplow/browser-tracker',
    file: 'snowplow.mjs',
    messageId: 'eid',
    note: 'limit raised from 1,000',
  },
  {
    name: 'segment',
    kind: 'peer',
    package: '@segment/analytics-next',
    file: 'segment.mjs',
    messageId: 'messageId',
    note: 'defaults',
  },
  {
    name: 'amplitude',
    kind: 'peer',
    package: '@amplitude/analytics-browser',
    file: 'amplitude.mjs',
    messageId: 'insert_id',
    note: 'defaults',
  },
  {
    name: 'mixpanel',
    kind: 'peer',
    package: 'mixpanel-browser',
    file: 'mixpanel.mjs',
    messageId: '$insert_id',
    note: 'defaults',
  },
  {
    name: 'rudderstack',
    kind: 'peer',
    package: '@rudderstack/analytics-js',
    file: 'rudderstack.mjs',
    messageId: 'messageId',
    note: 'limit raised from 100, batches on',
  },
  {
    name: 'posthog',
    kind: 'peer',
    package: 'posthog-js',
    file: 'posthog.mjs',
    messageId: 'uuid',
    note: 'defaults',
  },
  { name: 'nothing', kind: 'control', note: 'no queue' },
];
