/**
 * The events of a decision as one row: six events take 0.6 KB with their index entry, where six rows of `ad_events`
 * take 2.1 KB. The free space on each page is for the events that follow: a row that is rewritten on its own page
 * (HOT) adds no index entry. `event/timeline.ts` describes the text in `events`.
 *
 * `recorded_events` has the events of both tables, for operators who query the database.
 */
export const timelines = {
  name: '0140-timelines',
  statements: [
    `CREATE TABLE timelines (
      account_id text NOT NULL,
      decision_id text COLLATE "C" NOT NULL,
      events text NOT NULL,
      PRIMARY KEY (account_id, decision_id)) PARTITION BY RANGE (decision_id)`,
    'CREATE TABLE timelines_other PARTITION OF timelines DEFAULT WITH (fillfactor = 40)',
    `CREATE VIEW recorded_events AS
      SELECT account_id, decision_id, id, type, occurred_at, received_at, coalesce(offset_ms, 0) AS offset_ms, clamped,
          watched_ms, visible_ratio, visible_ms, detail FROM ad_events
        UNION ALL
      SELECT account_id, decision_id, event ->> 0,
          jsonb '{"i": "impression", "v": "viewable", "s": "start", "1": "first_quartile", "2": "midpoint",
            "3": "third_quartile", "c": "complete", "k": "click", "x": "skip", "z": "close", "e": "error"}' ->> (event ->> 1),
          to_timestamp((first_ms + (event ->> 2)::bigint - (event ->> 3)::bigint) / 1000.0),
          to_timestamp((first_ms + (event ->> 2)::bigint) / 1000.0), (event ->> 4)::bigint,
          coalesce(event ->> 5, '0') = '1', (event ->> 6)::integer, (event ->> 7)::double precision,
          (event ->> 8)::integer, event ->> 9
        FROM timelines, LATERAL (SELECT events::jsonb AS list, (events::jsonb ->> 0)::bigint AS first_ms) AS parsed,
          jsonb_array_elements(list - 0) AS event`,
  ],
} as const;
