/**
 * Lets `recorded_events` read ids that are stored without the prefix they share with the first one: a `~` stands for the
 * first id up to its last hyphen. With more alike than before, a timeline only doubles in size, so less of each
 * page is kept free for that.
 */
export const timelineIds = {
  name: '0141-timeline-ids',
  statements: [
    'ALTER TABLE timelines_other SET (fillfactor = 50)',
    `CREATE OR REPLACE VIEW recorded_events AS
      SELECT account_id, decision_id, id, type, occurred_at, received_at, coalesce(offset_ms, 0) AS offset_ms, clamped,
          watched_ms, visible_ratio, visible_ms, detail FROM ad_events
        UNION ALL
      SELECT account_id, decision_id,
          CASE WHEN event ->> 0 LIKE '~%' THEN regexp_replace(list -> 1 ->> 0, '[^-]*$', '') || substr(event ->> 0, 2)
            ELSE event ->> 0 END,
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
