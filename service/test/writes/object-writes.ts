import { claimOrigins } from '../../src/demand/intake/check-origins.ts';
import { startLastOffers } from '../../src/demand/intake/last-offers.ts';
import { createUploads } from '../../src/media/unused-uploads.ts';
import { createResourceStore } from '../../src/resource/resource-store.ts';
import { createSourceSecrets } from '../../src/resource/source-secrets.ts';
import type { Database } from '../../src/store/database.ts';
import { makeId, makeName } from '../tenant-rows.ts';
import { accountId, ids, place, scope } from '../twin-accounts.ts';
import { clock, log, makeNewId, openText, type WriteCases } from './write-case.ts';

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
  return createUploads({ database, clock, log, quotas, store: {} } as never);
};

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
};
