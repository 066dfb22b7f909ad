/**
 * Decisions and their events in partitions of one week, which are dropped as a whole when they are
 * too old. An id begins with its time, so the id itself says in which partition its row is: keys stay
 * as they were, and an event is beside its decision, where it is found to be there already.
 *
 * Ids compare by their bytes (`COLLATE "C"`), as everywhere else; by the rules of a language it costs
 * ten times as much.
 */
export const partitions = {
  name: '0040-partitions',
  statements: [
    `ALTER TABLE decisions ALTER COLUMN id TYPE text COLLATE "C", ALTER COLUMN viewer TYPE text COLLATE "C"`,
    'ALTER TABLE decisions RENAME TO decisions_before',
    `CREATE TABLE decisions (LIKE decisions_before INCLUDING DEFAULTS, PRIMARY KEY (account_id, id))
      PARTITION BY RANGE (id)`,
    // For whatever is of a week that has no partition: nothing is ever refused for want of one.
    'CREATE TABLE decisions_other PARTITION OF decisions DEFAULT',
    'INSERT INTO decisions SELECT * FROM decisions_before',
    'DROP TABLE decisions_before',
    // The environment is part of what a viewer is made of.
    `CREATE INDEX decisions_of_viewer ON decisions (viewer, id) WHERE viewer IS NOT NULL AND status = 'filled'`,
    'CREATE INDEX decisions_served ON decisions (viewer, placement, served_at) WHERE served_at IS NOT NULL',
    'CREATE INDEX decisions_watched ON decisions (viewer, watch_to) WHERE watch_to IS NOT NULL',
    `CREATE INDEX decisions_pending ON decisions (late_at) WHERE reward_state = 'pending'`,

    `ALTER TABLE ad_events ALTER COLUMN decision_id TYPE text COLLATE "C", ALTER COLUMN id TYPE text COLLATE "C"`,
    'ALTER TABLE ad_events RENAME TO ad_events_before',
    `CREATE TABLE ad_events (LIKE ad_events_before INCLUDING DEFAULTS, PRIMARY KEY (account_id, decision_id, id))
      PARTITION BY RANGE (decision_id)`,
    'CREATE TABLE ad_events_other PARTITION OF ad_events DEFAULT',
    'INSERT INTO ad_events SELECT * FROM ad_events_before',
    'DROP TABLE ad_events_before',
  ],
} as const;
