import type { AuditEntry, Creative } from '@trueward/protocol/wire';

type Content = Pick<Creative, 'media' | 'click_url'>;

/**
 * The version before the one that is pending review, as far as the audit log reaches back: the state before the
 * newest change of media or click-through URL.
 *
 * @param entries The audit records of the creative, newest first.
 */
export function previousVersion(entries: readonly AuditEntry[]): Creative | undefined {
  const changed = entries.find(
    ({ before, after }) =>
      before !== undefined && after !== undefined && contentOf(before) !== contentOf(after),
  );
  return changed?.before as Creative | undefined;
}

function contentOf(document: object): string {
  const { media, click_url: clickUrl } = document as Content;
  return JSON.stringify([media, clickUrl]);
}
