/**
 * Counts that are not folded into `rollups` yet. A transaction that counts something inserts its own rows here, so that
 * no two transactions ever wait for the same roll-up row; a fold moves them into `rollups` every few seconds.
 * Reports read both as `rollup_counts`. The previous release writes to `rollups` directly.
 *
 * The ids are random because a sequence would restart after an import. Every row is deleted within seconds,
 * so a vacuum is due after a fixed number of them, however small the table is.
 */
export const rollupDeltas = {
  name: '0120-rollup-deltas',
  statements: [
    `CREATE TABLE rollup_deltas (
      account_id text NOT NULL,
      id uuid NOT NULL DEFAULT gen_random_uuid(),
      environment text NOT NULL,
      hour timestamptz NOT NULL,
      placement text NOT NULL,
      creative_id text NOT NULL,
      source_id text NOT NULL,
      advertiser_id text NOT NULL,
      house_ad_id text NOT NULL,
      metric text NOT NULL,
      reason text NOT NULL,
      count bigint NOT NULL,
      PRIMARY KEY (account_id, id),
      CONSTRAINT rollup_deltas_plausible CHECK (hour > '2000-01-02T00:00:00Z' AND count >= 0))
      WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000)`,
    `CREATE VIEW rollup_counts AS
      SELECT account_id, environment, hour, placement, creative_id, source_id, advertiser_id, house_ad_id,
          metric, reason, count FROM rollups
        UNION ALL
      SELECT account_id, environment, hour, placement, creative_id, source_id, advertiser_id, house_ad_id,
          metric, reason, count FROM rollup_deltas`,
  ],
} as const;
