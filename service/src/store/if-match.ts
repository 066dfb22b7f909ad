import { createHash } from 'node:crypto';
import { DomainError } from '../platform/domain-error.ts';

/** A number that counts an object's changes, or a hash of what a client is shown of it. */
export type Revision = number | string;

/** Whether a change may be applied to the given revision. If undefined, it may be applied to any revision. */
export type IfMatch = ((revision: Revision) => boolean) | undefined;

/** Returns the revision of something whose changes are not counted. `shown` is what a person decides on. */
export const hashRevision = (shown: object): string =>
  createHash('sha256').update(JSON.stringify(shown)).digest('base64url').slice(0, 22);

/**
 * Must be called in the transaction that makes the change, after it has locked what it changes.
 *
 * @throws DomainError when the client has seen another revision.
 */
export function requireMatch(ifMatch: IfMatch, revision: Revision): void {
  if (ifMatch === undefined || ifMatch(revision)) return;
  throw new DomainError(
    'precondition_failed',
    'The object has been modified since you read it. Read it again, then send the change with the new ETag.',
  );
}
