import { claimOrigins } from '../../src/demand/intake/check-origins.ts';
import { startLastOffers } from '../../src/demand/intake/last-offers.ts';
import { createUsageStore } from '../../src/http/limits/open-rate-limits.ts';
import { createUploads } from '../../src/media/unused-uploads.ts';
import { createResourceStore } from '../../src/resource/resource-store.ts';
import { createSourceSecrets } from '../../src/resource/source-secrets.ts';
import type { Database } from '../../src/store/database.ts';
import { makeId, makeName } from '../tenant-rows.ts';
import { accountId, ids, openText, place, scope } from '../twin-accounts.ts';
import { clock, log, makeNewId, type WriteCases } from './write-case.ts';

const [placementId = ''] = ids('placement', 1);
const resources = createResourceStore(clock, makeNewId);

/** Gives each account a secret of one source, one of another, and one for another purpose. */
const sourceSecrets = [
  `UPDATE secrets SET purpose = CASE right(id, 1) WHEN '2' THEN 'other' ELSE 'vast_password' END,
    id = CASE right(id, 1) WHEN '3' THEN 'src_3' ELSE 'src_1' END
    WHERE account_id IN ('acc_home1', 'acc_twin1')`,
];
const openSourceSecrets = (database: Database) =>
  createSourceSecrets<string>(
    { database, box: openText as never, clock },
    'vast_password',
    'password',
  );
const uploadName = `${makeName(place).slice(0, 8)}-${'1'.padStart(64, '0')}.png`;
const openUploads = (database: Database) => {
  const quotas = { check: () => Promise.resolve() };
  return createUploads({
    database,
    clock,
    log,
    quotas,
    store: { remove: () => Promise.resolve() },
  } as never);
};

/** The file of the second creatives. */
const usedFile = `${'2'.padStart(64, '0')}.png`;
/** Uploads: unused for long, not for long, not any more, and again. The service has a row for each, too. */
const uploads = [
  'DELETE FROM uploads',
  `INSERT INTO uploads SELECT unnest(ARRAY['service', account]), name, 1, since::timestamptz FROM (VALUES
    ('acc_home1', 'old.png', '2026-01-01T00:00:00Z'), ('acc_home1', 'young.png', '2026-05-31T00:00:00Z'),
    ('acc_home1', 'forgotten.png', NULL), ('acc_twin1', '${usedFile}', '2026-01-01T00:00:00Z')) AS given (account, name, since)`,
];

const limitUses = [
  'DELETE FROM limit_uses',
  `INSERT INTO limit_uses SELECT 'service', process, name, 1, at::timestamptz
    FROM (VALUES ('process'), ('another')) AS processes (process),
      (VALUES ('old', '2026-06-01T11:59:54Z'), ('new', '2026-06-01T11:59:56Z')) AS uses (name, at)`,
];

/** Configured objects, and what belongs to them. */
export const objectWrites: WriteCases = {
  'replacing a placement': {
    write: (queries) =>
      resources.replace(queries, scope, 'placement', placementId, { name: 'a' } as never),
    changes: ['config_versions acc_home1', `resources sandbox placement ${placementId}`],
  },
  'archiving a placement': {
    write: (queries) => resources.archive(queries, scope, 'placement', placementId),
    changes: ['config_versions acc_home1', `resources sandbox placement ${placementId}`],
  },
  'replacing an archived placement': {
    prepare: [`UPDATE resources SET archived_at = now()`],
    write: (queries) =>
      resources.replace(queries, scope, 'placement', placementId, { name: 'a' } as never),
    changes: [],
  },
  'recording when a creative was last offered': {
    write: async (_, own) => {
      const offers = startLastOffers({ database: own, clock, log });
      offers.record(accountId, makeId('creative', place));
      await offers.stop();
    },
    changes: [`creative_origins ${makeId('creative', place)}`],
  },
  "replacing a source's secret": {
    prepare: sourceSecrets,
    write: (queries, own) =>
      openSourceSecrets(own).store({ queries, scope } as never, 'src_1', 'new'),
    changes: ['secrets vast_password src_1'],
  },
  "removing a source's secret": {
    prepare: sourceSecrets,
    write: (queries, own) =>
      openSourceSecrets(own).store({ queries, scope } as never, 'src_1', undefined),
    changes: ['secrets vast_password src_1'],
  },
  'recording an upload': {
    write: async (_, own) => openUploads(own).record(accountId, { name: uploadName, bytes: 1 }),
    changes: [`uploads ${uploadName}`, `uploads ${uploadName}`],
  },
  'claiming comparisons of creatives': {
    prepare: [
      `UPDATE creative_origins SET due_at = CASE right(creative_id, 1) WHEN '1' THEN timestamptz '2026-06-01T12:00:00Z'
        ELSE timestamptz '2026-06-01T12:00:01Z' END`,
    ],
    write: (queries) => claimOrigins(queries, accountId, new Date(clock.nowMs())),
    changes: [
      `creative_origins ${makeId('creative', place)}`,
      `creative_origins ${makeId('creative', { ...place, environment: 'live' })}`,
    ],
  },
  'deleting uploads that have not been used for 30 days': {
    prepare: uploads,
    write: (_, own) => openUploads(own).removeUnused(),
    changes: [
      'uploads old.png',
      'uploads old.png',
      'uploads forgotten.png',
      'uploads forgotten.png',
      `uploads acc_twin1 ${usedFile}`,
      `uploads ${usedFile}`,
    ],
  },
  'removing this process from the limits that processes share': {
    prepare: limitUses,
    write: (queries) => createUsageStore(queries, 'process', clock).remove(),
    changes: ['limit_uses process new', 'limit_uses process old'],
  },
  'deleting the old uses of this process': {
    prepare: limitUses,
    write: async (queries) => {
      const store = createUsageStore(queries, 'process', clock);
      for (let count = 0; count < 60; count += 1) await store.write([]);
      await queries.query(`DELETE FROM limit_uses WHERE name = ''`);
    },
    changes: ['limit_uses process old'],
  },
};
