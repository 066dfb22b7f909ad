/**
 * Statements without a case, and the test that is about each: they change rows of the whole service, or what they are for
 * can't be called by itself.
 */
export const elsewhere: Record<string, string> = {
  'access/links.ts: DELETE FROM user_links WHERE user_id IS NULL RETURNING':
    'http/first-owner.test.ts',
  'access/secret-box.ts: DELETE FROM secrets RETURNING': 'http/command-line.test.ts',
  'access/secret-box.ts: UPDATE users SET codes_secret = NULL': 'http/command-line.test.ts',
  'access/secret-box.ts: DELETE FROM ${table} WHERE (account_id, event_id)':
    'http/command-line.test.ts',
  'access/secret-box.ts: UPDATE tracker_requests SET client = NULL': 'http/command-line.test.ts',
  'access/secret-box.ts: DELETE FROM webhook_events WHERE body': 'http/command-line.test.ts',
  'demand/intake/check-origins.ts: DELETE FROM creative_origins':
    'http/creative-revalidation.test.ts',
  'demand/intake/check-origins.ts: UPDATE creative_origins SET sha256':
    'http/creative-revalidation.test.ts',
  'history/delete-records.ts: DELETE FROM ${table} WHERE account_id = $1 AND event_id':
    'http/deleted-rows.test.ts',
  'history/delete-records.ts: DELETE FROM webhook_events': 'http/deleted-rows.test.ts',
  'history/delete-records.ts: DELETE FROM ${table} WHERE account_id = $1 AND decision_id':
    'http/deleted-rows.test.ts',
  'history/delete-records.ts: DELETE FROM decisions': 'http/deleted-rows.test.ts',
  'history/erase-player.ts: DELETE FROM': 'http/deleted-rows.test.ts',
  'history/archive-week.ts: INSERT INTO archived_weeks': 'http/archive.test.ts',
  'history/erase-from-archives.ts: UPDATE archived_weeks': 'http/archive.test.ts',
  'history/rollup.ts: DELETE FROM rollup_deltas': 'http/roll-ups.test.ts',
  'store/copy-rows.ts: UPDATE delivery_queue SET lease_until = NULL': 'http/copy.test.ts',
  'store/migration-lock.ts: INSERT INTO migration_lock': 'http/migrations.test.ts',
  'store/partitions.ts: DELETE FROM ${week.table}_other': 'http/partitions.test.ts',
  'webhook/delivery-store.ts: UPDATE delivery_queue SET lease_until = NULL WHERE lease':
    'http/delivery-leases.test.ts',
};
