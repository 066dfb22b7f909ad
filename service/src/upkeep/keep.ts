/** How long what grows is kept, in milliseconds; undefined: for ever. */
export interface Keep {
  /** Decisions and their events, and webhook events. */
  decisionsMs: number | undefined;
  /** The audit trail. */
  auditMs: number | undefined;
  /** Where old weeks are archived; with it, only those that are archived are dropped. */
  archiveDirectory: string | undefined;
}
