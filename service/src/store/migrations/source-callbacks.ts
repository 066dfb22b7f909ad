/** An ad network's callback is one of a decision's events. */
export const sourceCallbacks = {
  name: '0004-source-callbacks',
  statements: [
    `CREATE OR REPLACE VIEW recorded_events AS
      SELECT account_id, decision_id,
          CASE WHEN event ->> 0 LIKE '~%' THEN regexp_replace(list -> 1 ->> 0, '[^-]*$', '') || substr(event ->> 0, 2)
            ELSE event ->> 0 END AS id,
          jsonb '{"i": "impression", "v": "viewable", "s": "start", "1": "first_quartile", "2": "midpoint",
            "3": "third_quartile", "c": "complete", "k": "click", "x": "skip", "z": "close", "e": "error",
            "a": "source_callback"}'
            ->> (event ->> 1) AS type,
          to_timestamp((first_ms + (event ->> 2)::bigint - (event ->> 3)::bigint) / 1000.0) AS occurred_at,
          to_timestamp((first_ms + (event ->> 2)::bigint) / 1000.0) AS received_at,
          (event ->> 4)::bigint AS offset_ms, coalesce(event ->> 5, '0') = '1' AS clamped,
          (event ->> 6)::integer AS watched_ms, (event ->> 7)::double precision AS visible_ratio,
          (event ->> 8)::integer AS visible_ms, event ->> 9 AS detail
        FROM timelines, LATERAL (SELECT events::jsonb AS list, (events::jsonb ->> 0)::bigint AS first_ms) AS parsed,
          jsonb_array_elements(list - 0) AS event`,
  ],
} as const;
