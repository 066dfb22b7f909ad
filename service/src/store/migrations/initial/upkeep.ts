/** Counts for reports, and the tables through which processes coordinate. */
export const upkeep = [
  `CREATE TABLE rollups (
    account_id text NOT NULL,
    environment text NOT NULL,
    hour timestamptz NOT NULL,
    placement text NOT NULL,
    creative_id text COLLATE "C" NOT NULL,
    source_id text COLLATE "C" NOT NULL,
    advertiser_id text COLLATE "C" NOT NULL,
    house_ad_id text COLLATE "C" NOT NULL,
    metric text NOT NULL,
    reason text NOT NULL,
    count bigint NOT NULL,
    PRIMARY KEY (account_id, environment, hour, placement, creative_id, source_id,
      advertiser_id, house_ad_id, metric, reason),
    CONSTRAINT rollups_plausible CHECK (hour > '2000-01-02T00:00:00Z' AND count >= 0))`,

  // Counts that have not been folded into `rollups` yet. Transactions only insert rows here, so that they don't contend
  // for the same roll-up row. Every few seconds, a fold moves the rows to `rollups`. Reports read both tables through
  // the `rollup_counts` view.
  //
  // The ids are random, because a sequence would start over after an import. Rows are deleted within seconds, so
  // autovacuum is triggered by a fixed number of deleted rows, regardless of the table's size.
  `CREATE TABLE rollup_deltas (
    account_id text NOT NULL,
    id uuid NOT NULL DEFAULT gen_random_uuid(),
    environment text NOT NULL,
    hour timestamptz NOT NULL,
    placement text NOT NULL,
    creative_id text COLLATE "C" NOT NULL,
    source_id text COLLATE "C" NOT NULL,
    advertiser_id text COLLATE "C" NOT NULL,
    house_ad_id text COLLATE "C" NOT NULL,
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

  // A process claims a chore by updating `begun_at`.
  `CREATE TABLE chores (
    account_id text NOT NULL,
    name text NOT NULL,
    begun_at timestamptz NOT NULL,
    PRIMARY KEY (account_id, name))`,

  // Work that continues after the request that started it. A process locks a job's row while it does one step, and
  // stores in `cursor` where the next step continues.
  `CREATE TABLE jobs (
    account_id text NOT NULL,
    id text COLLATE "C" NOT NULL,
    environment text NOT NULL,
    kind text NOT NULL,
    request jsonb NOT NULL,
    state text NOT NULL,
    reason text,
    cursor text,
    progress double precision NOT NULL,
    counts jsonb NOT NULL,
    actor text NOT NULL,
    created_at timestamptz NOT NULL,
    finished_at timestamptz,
    PRIMARY KEY (account_id, id))`,
  `CREATE INDEX jobs_running ON jobs (account_id, id) WHERE state = 'running'`,

  // The tallies of archive files. A week can be dropped if its tally in the database matches.
  `CREATE TABLE archived_weeks (
    account_id text NOT NULL,
    name text COLLATE "C" NOT NULL,
    rows bigint NOT NULL,
    checksum text NOT NULL,
    archived_at timestamptz NOT NULL,
    PRIMARY KEY (account_id, name))`,

  // The number of requests that each process has admitted. `name` is a hash of the limit's subject.
  `CREATE TABLE limit_uses (
    account_id text NOT NULL,
    process_id text NOT NULL,
    name text COLLATE "C" NOT NULL,
    uses bigint NOT NULL,
    seen_at timestamptz NOT NULL,
    PRIMARY KEY (account_id, process_id, name))`,
] as const;
