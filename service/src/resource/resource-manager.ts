import type { Clock } from '../platform/time.ts';
import { DomainError, throwFieldErrors } from '../platform/domain-error.ts';
import type { AuditLog, Operation } from '../store/audit-log.ts';
import { draftChangeEvents, type WriteEvents } from './change-events.ts';
import {
  type CheckSource,
  checkDocument,
  checkReferences,
  findReferrer,
  listReferences,
  checkRetention,
} from './check-document.ts';
import { settleChange, toEffective } from './effective-state.ts';
import { normalizeDocument } from './normalize-document.ts';
import { type ResourceKind, type ResourceKinds, type Stored, toStored } from './resource.ts';
import type { ResourceStore, Versioned } from './resource-store.ts';
import type { QuotaKind } from '../platform/quota-limits.ts';
import { readAccountRetention } from '../store/account-retention.ts';
import type { Queries, Scope } from '../store/database.ts';
import { type IfMatch, requireMatch } from '../store/if-match.ts';
import type { Quotas } from '../store/quotas.ts';

interface Deps {
  resources: ResourceStore;
  audit: AuditLog;
  writeEvents: WriteEvents;
  quotas: Quotas;
  /** How long the service keeps decisions at most, in milliseconds. If undefined, forever. */
  retentionMs: number | undefined;
  checkSource: CheckSource;
  clock: Clock;
}

/**
 * Checks and changes managed objects, and writes audit records and webhook events. Runs in the operation's transaction,
 * which must already have locked the configuration.
 */
export interface ResourceManager {
  create<K extends ResourceKind>(
    operation: Operation,
    kind: K,
    document: Stored<K>,
  ): Promise<Versioned<ResourceKinds[K]>>;
  /** @throws DomainError when the object does not exist or has a different revision, or when the change is invalid. */
  change<K extends ResourceKind>(
    operation: Operation,
    target: { kind: K; id: string; ifMatch: IfMatch; action?: string },
    change: (before: Stored<K>) => Stored<K>,
  ): Promise<Versioned<ResourceKinds[K]>>;
  /** @throws DomainError when the object does not exist, has a different revision, or is in use by another object. */
  archive<K extends ResourceKind>(
    operation: Operation,
    target: { kind: K; id: string; ifMatch: IfMatch },
  ): Promise<void>;
}

export function createResourceManager(deps: Deps): ResourceManager {
  const { resources, audit, writeEvents, quotas, clock } = deps;
  const findExisting = async <K extends ResourceKind>(
    { queries, scope }: Operation,
    { kind, id, ifMatch }: { kind: K; id: string; ifMatch: IfMatch },
  ): Promise<ResourceKinds[K]> => {
    const resource = await resources.find(queries, scope, kind, id);
    if (!resource)
      throw new DomainError(
        'not_found',
        `There is no ${kind} ${id.slice(0, 64)} in this environment.`,
      );
    requireMatch(ifMatch, resource.revision);
    return resource.document;
  };
  const emitEvents = <K extends ResourceKind>(
    { queries, scope }: Operation,
    kind: K,
    before: ResourceKinds[K] | undefined,
    after: ResourceKinds[K] | undefined,
  ) => writeEvents(queries, scope, draftChangeEvents(kind, before, after));

  /** Kill switches, and what the service itself changes, must not fail because an account is full. */
  const checkSize = async <K extends ResourceKind>(
    { queries, scope, actor }: Operation,
    kind: K,
    before: Stored<K> | undefined,
    after: Stored<K>,
  ): Promise<void> => {
    const added = measureKib(after) - (before ? measureKib(before) : 0);
    if (added <= 0 || kind === 'killSwitch' || (before && actor === 'service')) return;
    const isChange = before !== undefined;
    await quotas.check(queries, scope.accountId, 'configuration_kb', { added, isChange });
  };

  return {
    async create(operation, kind, received) {
      const document = await checkChange(
        operation,
        kind,
        undefined,
        settleChange(kind, undefined, received, clock.nowMs()),
        deps,
      );
      const { queries, scope } = operation;
      await quotas.check(queries, scope.accountId, quotaOf[kind]);
      await checkSize(operation, kind, undefined, document);
      const created = await resources.create(queries, scope, kind, document);
      await emitEvents(operation, kind, undefined, created);
      await audit.record(operation, {
        action: formatAction(kind, 'created'),
        targetId: created.id,
        after: created,
      });
      return { document: created, revision: 1 };
    },

    async change(operation, target, change) {
      const { kind, id, action = 'updated' } = target;
      const before = await findExisting(operation, target);
      const nowMs = clock.nowMs();
      const stored = toStored(before);
      // The change applies to the effective state. The event compares stored states, because they were announced.
      const effective = kind === 'killSwitch' ? toEffective(kind, before, nowMs) : before;
      const settled = settleChange(kind, stored, change(toStored(effective)), nowMs);
      const changed = await checkChange(operation, kind, stored, settled, deps);
      await checkSize(operation, kind, stored, changed);
      const after = await resources.replace(operation.queries, operation.scope, kind, id, changed);
      if (!after) throw new Error(`The ${kind} ${id} disappeared while it was locked.`);
      await emitEvents(operation, kind, before, after.document);
      const entry = {
        action: formatAction(kind, action),
        targetId: id,
        before,
        after: after.document,
      };
      await audit.record(operation, entry);
      return after;
    },

    async archive(operation, target) {
      const { kind, id } = target;
      const { queries, scope } = operation;
      const before = await findExisting(operation, target);
      const name = 'name' in before ? before.name : '';
      const referrer = await findReferrer(queries, scope, kind, { id, name });
      if (referrer !== undefined)
        throw new DomainError('conflict', `${referrer} still refers to this object.`);
      await resources.archive(queries, scope, kind, id);
      await emitEvents(operation, kind, before, undefined);
      await audit.record(operation, {
        action: formatAction(kind, 'archived'),
        targetId: id,
        before,
      });
    },
  };
}

const quotaOf: Record<ResourceKind, QuotaKind> = {
  placement: 'placements',
  source: 'sources',
  advertiser: 'advertisers',
  creative: 'creatives',
  houseAd: 'house_ads',
  policy: 'policies',
  adRule: 'ad_rules',
  killSwitch: 'kill_switches',
  webhook: 'webhooks',
};

const measureKib = (document: object): number =>
  Buffer.byteLength(JSON.stringify(document)) / 1_024;

/**
 * Returns the document in its normal form, and rejects an invalid one. Checks only references that the document didn't
 * have before.
 */
async function checkChange<K extends ResourceKind>(
  { queries, scope }: Operation,
  kind: K,
  before: Stored<K> | undefined,
  received: Stored<K>,
  { retentionMs, checkSource }: Pick<Deps, 'retentionMs' | 'checkSource'>,
): Promise<Stored<K>> {
  const { document: after, errors } = normalizeDocument(kind, received);
  const previousKeys = new Set((before ? listReferences(kind, before) : []).map(makeKey));
  const addedReferences = listReferences(kind, after).filter(
    (reference) => !previousKeys.has(makeKey(reference)),
  );
  throwFieldErrors([
    ...errors,
    ...checkDocument(kind, after, (source) => checkSource(source, scope.environment)),
    ...(kind === 'placement'
      ? checkRetention(
          after as Stored<'placement'>,
          await readRetentionMs(queries, scope, retentionMs),
        )
      : []),
    ...(await checkReferences(queries, scope, addedReferences)),
  ]);
  if (kind !== 'placement' || before) return after;
  const { name } = after as Stored<'placement'>;
  const missing = await checkReferences(queries, scope, [{ pointer: '/name', kind, name }]);
  if (missing.length === 0)
    throw new DomainError('conflict', `A placement named ${name} already exists.`, [
      { pointer: '/name', message: 'is taken' },
    ]);
  return after;
}

async function readRetentionMs(
  queries: Queries,
  { accountId }: Scope,
  serviceMs: number | undefined,
): Promise<number | undefined> {
  const service = { decisionsMs: serviceMs, auditMs: undefined };
  return (await readAccountRetention(queries, accountId, service)).decisionsMs;
}

const makeKey = ({ kind, name, formats }: ReturnType<typeof listReferences>[number]): string =>
  `${kind} ${name} ${formats?.join(' ') ?? ''}`;

/** Formats the action for an audit record, such as `kill_switch.updated`. */
const formatAction = (kind: ResourceKind, verb: string): string =>
  `${kind.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)}.${verb}`;
