/**
 * The database rejects impossible values, whatever the code computed. `NOT VALID` constraints check every row
 * that is written from now on. Existing rows are not checked, which would lock large tables for minutes; they
 * are dropped with their week.
 */
export const plausibleTimes = {
  name: '0080-plausible-times',
  statements: [
    `ALTER TABLE decisions ADD CONSTRAINT decisions_times CHECK (
      issued_at > '2000-01-02T00:00:00Z' AND expires_at >= issued_at AND late_at >= issued_at
      AND served_at >= issued_at AND settled_at >= issued_at
      AND watch_from >= issued_at AND watch_to >= watch_from) NOT VALID`,
    `ALTER TABLE decisions ADD CONSTRAINT decisions_required CHECK (required_ms >= 0) NOT VALID`,
    `ALTER TABLE ad_events ADD CONSTRAINT ad_events_times CHECK (
      occurred_at > '2000-01-02T00:00:00Z' AND received_at >= occurred_at) NOT VALID`,
    `ALTER TABLE ad_events ADD CONSTRAINT ad_events_watched CHECK (
      watched_ms >= 0 AND visible_ms >= 0 AND visible_ratio BETWEEN 0 AND 1) NOT VALID`,
    `ALTER TABLE rollups ADD CONSTRAINT rollups_plausible CHECK (
      hour > '2000-01-02T00:00:00Z' AND count >= 0) NOT VALID`,
  ],
} as const;
