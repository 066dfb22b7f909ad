import { createHash } from 'node:crypto';
import { SignJWT } from 'jose';
import { findKeyById, isKeyRevoked, listKeys } from '../../src/access/key-store.ts';
import { createLinks } from '../../src/access/links.ts';
import { createPlayerTokens } from '../../src/access/player-tokens.ts';
import { createMac } from '../../src/access/secret-box.ts';
import { createSessions, hashToken } from '../../src/access/sessions.ts';
import { createUserTokens } from '../../src/access/user-tokens.ts';
import {
  countUsers,
  findUser,
  findUsersByEmail,
  listUsers,
  lockUser,
} from '../../src/access/user.ts';
import { runOnce } from '../../src/http/operations.ts';
import { loadKeys, loadSnapshots } from '../../src/decision/load-configuration.ts';
import { addIcon, checkQuota, findCreative } from '../../src/demand/intake/external-creative.ts';
import {
  checkLookbacks,
  checkReferences,
  findReferrer,
} from '../../src/resource/check-document.ts';
import type { Stored } from '../../src/resource/resource.ts';
import { createResourceStore, searchResources } from '../../src/resource/resource-store.ts';
import { createSourceSecrets } from '../../src/resource/source-secrets.ts';
import { readAccountRetention } from '../../src/store/account-retention.ts';
import { listAuditEntries } from '../../src/store/audit-log.ts';
import type { Database } from '../../src/store/database.ts';
import { createQuotas } from '../../src/store/quotas.ts';
import { readWebhookSecrets } from '../../src/webhook/webhook-secrets.ts';
import { createKeyedRequest } from '../keyed-request.ts';
import { accountId, ids, name, openText, scope } from '../twin-accounts.ts';
import {
  clock,
  makeId,
  nowMs,
  ofPlayer,
  page,
  samePlayer,
  sourceId,
  type ReadCase,
  type ReadCases,
} from './read-case.ts';

const resources = createResourceStore(clock, makeId);
const [keyId = ''] = ids('key', 1);
const [creativeId = '', otherCreativeId = ''] = ids('creative', 1, 2);
const [advertiserId = ''] = ids('advertiser', 1);
const [placementId = ''] = ids('placement', 1);
const [userId = ''] = ids('user', 1);
/** Gives secrets another purpose, another owner or another account than the first one, which has the owner `of`. */
const secretsOf = (purpose: string, of: string, other: string): string[] => [
  `UPDATE secrets SET sealed = 'the secret', expires_at = NULL,
    purpose = CASE right(id, 1) WHEN '2' THEN 'other' ELSE '${purpose}' END,
    id = CASE right(id, 1) WHEN '3' THEN '${other}' ELSE '${of}' END || '/' || right(id, 1)`,
];
/** Adds as many creatives that wait for their review as a source may have. */
const tooManyCreatives = (document: object): string =>
  `INSERT INTO resources (account_id, environment, kind, id, document, revision, created_at, updated_at)
    SELECT account_id, environment, kind, gen_random_uuid(),
      '${JSON.stringify({ ...document, review: { status: 'pending_review' } })}', revision, created_at, updated_at
    FROM resources, generate_series(1, 200) WHERE id = '${creativeId}' AND account_id = '${accountId}'`;
const request = createKeyedRequest('key');
const requestHash = createHash('sha256').update('POST /a\n{}').digest('hex');
const serviceRetention = { decisionsMs: undefined, auditMs: undefined };
const userToken = new SignJWT({ sub: 'player', exp: nowMs / 1_000 + 60 })
  .setProtectedHeader({ alg: 'HS256' })
  .sign(new TextEncoder().encode('the secret'));
const sessionToken = `${accountId}.session`;
const inSession = [
  `UPDATE sessions SET expires_at = expires_at + interval '1 hour'`,
  `UPDATE sessions SET hash = '${hashToken(sessionToken)}' WHERE right(hash, 1) = '1'`,
];
const guestText = 'ply.e30.guest';
const guestToken = `${guestText}.${createMac('secret')(`${accountId} sandbox ${guestText}`)}`;
const onDevice = [
  ...samePlayer('player_tokens'),
  `UPDATE player_tokens SET hash = '${hashToken(guestToken)}' WHERE viewer = 'player'`,
];
const openTokens = (database: Database) =>
  createPlayerTokens({ database, clock, tokenSecret: 'secret', makeId, pseudonym: () => 'player' });
/** Whether the first creative stays approved with an icon that has the second one's image. */
const isImageApproved = async (database: Database): Promise<true | undefined> => {
  let isApproved = false;
  const change = async (
    _operation: unknown,
    _target: unknown,
    update: (before: object) => object,
  ) => {
    const after = update({ review: { status: 'approved' } }) as Stored<'creative'>;
    isApproved = after.review.status === 'approved';
  };
  await addIcon(
    { resourceManager: { change } } as never,
    { queries: database, scope } as never,
    { scope, source: { id: sourceId }, offer: { creativeKey: '1' } } as never,
    { url: '2', origin_url: 'https://a.example/icon.png' } as never,
  );
  return isApproved || undefined;
};
const countQuota = async (database: Database, kind: string) =>
  (await createQuotas({}, clock).read(database, accountId)).find((usage) => usage.kind === kind)
    ?.used;

/** What an account reads of itself: its keys, users, secrets, objects and quotas. */
export const accountReads: ReadCases = {
  'a key': { read: (own) => findKeyById(own, scope, keyId), of: { keys: `id = '${keyId}'` } },
  'whether a key is in use': {
    read: async (own) => !(await isKeyRevoked(own, { ...scope, keyId }, nowMs)) || undefined,
    of: { keys: `id = '${keyId}'` },
  },
  keys: { read: (own) => listKeys(own, scope, page), of: { keys: 'true' } },
  'keys of a configuration': {
    read: (own) => loadKeys(own, accountId),
    of: { keys: 'true' },
    inBoth: true,
  },
  'placements of a configuration': {
    read: async (own) => (await loadSnapshots(own, accountId)).sandbox.placements,
    of: { resources: 'true' },
  },
  'a user': { read: (own) => findUser(own, accountId, userId), of: { users: `id = '${userId}'` } },
  'a user that is locked': {
    read: (own) => lockUser(own, accountId, userId),
    of: { users: `id = '${userId}'` },
  },
  'a link': {
    prepare: [
      `UPDATE user_links SET hash = '${hashToken(sessionToken)}', expires_at = expires_at + interval '1 hour'
        WHERE right(hash, 1) = '1'`,
    ],
    read: (own) => createLinks({ database: own, clock } as never).find(sessionToken),
    of: { user_links: `hash = '${hashToken(sessionToken)}'` },
  },
  'whether a code may be made on a device': {
    prepare: onDevice,
    read: (own) => openTokens(own).createDeviceCode(scope, 'ply_1', guestToken),
    of: { player_tokens: ofPlayer },
  },
  'how long the account keeps its data': {
    prepare: ['UPDATE accounts SET retention_days = 7'],
    read: async (own) => (await readAccountRetention(own, accountId, serviceRetention)).decisionsMs,
    of: { accounts: 'true' },
  },
  'the answer to an idempotency key': {
    prepare: [
      `UPDATE idempotency_keys SET key = 'key', request_hash = '${requestHash}', answer = '{}' WHERE right(key, 1) = '1'`,
    ],
    read: async (own) => {
      const work = () => Promise.resolve({ status: 200 });
      const deps = { queries: own, box: openText as never, clock };
      return (await runOnce(deps, scope, request, work)).replayed || undefined;
    },
    of: { idempotency_keys: `key = 'key'` },
  },
  "a source's secret": {
    prepare: [...secretsOf('password', 'src_1', 'src_3'), `UPDATE secrets SET sealed = '"hidden"'`],
    read: (own) =>
      createSourceSecrets({ database: own, box: openText as never, clock }, 'password', 'password')
        .read(accountId, { id: 'src_1/1' })
        .catch(() => undefined),
    of: { secrets: `id = 'src_1/1'` },
  },
  'whether a source has too many creatives': {
    prepare: [
      tooManyCreatives({ source_id: sourceId, source_key: '1' }),
      tooManyCreatives({ source_id: 'src_other', source_key: '1' }),
      tooManyCreatives({ source_id: sourceId }),
    ],
    read: (own) =>
      checkQuota(own, { scope, source: { id: sourceId } } as never).catch(
        (error: unknown) => error,
      ),
    of: { resources: `document->>'source_id' = '${sourceId}' AND document ? 'source_key'` },
  },
  users: { read: (own) => listUsers(own, accountId, page), of: { users: 'true' } },
  'users with an e-mail address': {
    read: async (own) =>
      (await findUsersByEmail(own, name)).filter((user) => user.accountId === accountId),
    of: { users: `id = '${userId}'` },
  },
  'the number of users with a role': {
    prepare: [
      `UPDATE users SET role = CASE right(id, 1) WHEN '3' THEN 'viewer' ELSE 'owner' END,
        password = CASE right(id, 1) WHEN '2' THEN NULL ELSE 'set' END`,
    ],
    read: (own) => countUsers(own, accountId, 'owner'),
    of: { users: `id = '${userId}'` },
  },
  'a session': {
    prepare: inSession,
    read: (own) => createSessions(own, clock).find(sessionToken),
    of: { sessions: `hash = '${hashToken(sessionToken)}'` },
  },
  'the user of a session': {
    prepare: inSession,
    read: (own) => createSessions(own, clock).find(sessionToken),
    of: { users: `id = '${userId}'` },
  },
  'secrets of user tokens': {
    prepare: secretsOf('user_token', 'sandbox', 'live'),
    read: async (own) =>
      createUserTokens({ database: own, box: openText, clock } as never).verify(
        scope,
        await userToken,
      ),
    of: { secrets: `purpose = 'user_token' AND id = 'sandbox/1'` },
  },
  'secrets of a webhook': {
    prepare: secretsOf('webhook', 'whk_1', 'whk_3'),
    read: (own) => readWebhookSecrets(own, openText, { accountId, webhookId: 'whk_1' }),
    of: { secrets: `purpose = 'webhook' AND id = 'whk_1/1'` },
  },
  'a guest': {
    prepare: onDevice,
    read: (own) => openTokens(own).find(scope, guestToken),
    of: { player_tokens: ofPlayer },
  },
  'a guest’s devices': {
    prepare: onDevice,
    read: (own) => openTokens(own).listDevices(own, scope, 'ply_1'),
    of: { player_tokens: ofPlayer },
  },
  'an object': {
    // An object of another kind with its id.
    prepare: [
      `UPDATE resources SET id = '${placementId}' WHERE kind = 'policy' AND right(id, 1) = '1'`,
    ],
    read: (own) => resources.find(own, scope, 'placement', placementId),
    of: { resources: `kind = 'placement' AND id = '${placementId}'` },
  },
  'objects of a kind': {
    read: async (own) => (await resources.list(own, scope, 'placement', page)).data,
    of: { resources: `kind = 'placement'` },
  },
  'found objects of a kind': {
    read: async (own) => {
      const search = { ids: [placementId], sort: 'name', descending: false, limit: 9, offset: 0 };
      return (await searchResources(own, scope, 'placement', search)).data;
    },
    of: { resources: `id = '${placementId}'` },
  },
  'an object that refers to an advertiser': {
    read: (own) => findReferrer(own, scope, 'advertiser', { id: advertiserId, name: '' }),
    of: { resources: `document->>'advertiser_id' = '${advertiserId}'` },
  },
  'an object that may be referred to': {
    read: async (own) => {
      const reference = { pointer: '/a', kind: 'creative', name: creativeId } as const;
      return (await checkReferences(own, scope, [reference])).length === 0 || undefined;
    },
    of: { resources: `id = '${creativeId}'` },
  },
  'an external creative': {
    prepare: [
      `UPDATE resources SET document = document || jsonb_build_object('source_id', '${sourceId}', 'source_key', right(id, 1))`,
    ],
    read: (own) =>
      findCreative(own, { scope, source: { id: sourceId }, offer: { creativeKey: '1' } } as never),
    of: { resources: `id = '${creativeId}'` },
  },
  'an image that has been approved': {
    prepare: [
      `UPDATE resources SET document = document || jsonb_build_object('source_id', '${sourceId}',
        'source_key', right(id, 1), 'review', jsonb_build_object('status', 'approved'),
        'icons', jsonb_build_array(jsonb_build_object('url', right(id, 1), 'origin_url', '')))`,
    ],
    read: isImageApproved,
    of: { resources: `id = '${otherCreativeId}'` },
  },
  'whether a placement looks back too long': {
    read: async (own) => (await checkLookbacks(own, accountId, 1)).length,
    of: { resources: `kind = 'placement'` },
    inBoth: true,
  },
  'audit records': {
    read: async (own) => (await listAuditEntries(own, scope, page)).data,
    of: { audit_entries: 'true' },
  },
  'audit records of an object': {
    read: async (own) => (await listAuditEntries(own, scope, { ...page, targetId: name })).data,
    of: { audit_entries: `target_id = '${name}'` },
  },
  ...Object.fromEntries(
    Object.entries({
      placements: { resources: `kind = 'placement'` },
      configuration_kb: { resources: 'true' },
      media_mb: { uploads: 'true' },
      keys: { keys: 'true' },
      users: { users: 'true' },
      user_token_secrets: { secrets: `purpose = 'user_token'` },
    }).map(([kind, of]): [string, ReadCase] => [
      `the quota of ${kind}`,
      {
        prepare: [
          `UPDATE secrets SET purpose = 'user_token' WHERE right(id, 1) = '1'`,
          `INSERT INTO uploads (account_id, name, bytes) VALUES ('${accountId}', 'a', 9), ('acc_twin1', 'a', 9)`,
        ],
        read: (own) => countQuota(own, kind),
        of,
        inBoth: true,
      },
    ]),
  ),
  'audit records of a period': {
    prepare: [
      `UPDATE audit_entries SET created_at = CASE right(id, 1) WHEN '1' THEN timestamptz '2099-06-01T00:00:00Z'
        WHEN '2' THEN timestamptz '2099-05-31T23:59:59.999Z' ELSE timestamptz '2099-06-01T00:00:00.001Z' END`,
    ],
    read: async (own) =>
      (await listAuditEntries(own, scope, { ...page, fromMs: nowMs, toMs: nowMs + 1 })).data,
    of: { audit_entries: `right(id, 1) = '1'` },
  },
};
