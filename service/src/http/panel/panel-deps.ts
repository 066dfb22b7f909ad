import type { Pseudonymize } from '../../decision/decision-service.ts';
import type { DryRun, TrySource } from '../../decision/dry-run.ts';
import { roles } from '../../access/principal.ts';
import type { MediaStore } from '../../media/media-store.ts';
import type { ProbeThread } from '../../media/probe-thread.ts';
import type { Uploads } from '../../media/unused-uploads.ts';
import type { Clock } from '../../platform/time.ts';
import type { ResourceStore } from '../../resource/resource-store.ts';
import type { ReadReward } from '../../reward/reward-status.ts';
import type { AuditLog } from '../../store/audit-log.ts';
import type { Database } from '../../store/database.ts';
import type { Users } from '../../access/create-users.ts';
import type { EventBodies } from '../../webhook/event-writer.ts';
import type { WalletService } from '../../wallet/wallet-service.ts';
import type { BrowserCookie } from '../authentication/session-access.ts';
import type { RateLimiter } from '../limits/rate-limits.ts';
import type { RunOperation } from '../operations.ts';

/** Dependencies for the panel routes. */
export interface PanelDeps {
  database: Database;
  users: Users;
  audit: AuditLog;
  mediaStore: MediaStore;
  uploads: Uploads;
  probeMedia: ProbeThread['probe'];
  cookie: BrowserCookie;
  limiter: RateLimiter;
  runOperation: RunOperation;
  eventBodies: EventBodies;
  readReward: ReadReward;
  pseudonym: Pseudonymize;
  dryRun: DryRun;
  wallets: Pick<WalletService, 'hasActive'>;
  trySource: TrySource;
  /** Returns a source's hosts whose circuit breakers are open in this process. */
  openHosts(sourceId: string): string[];
  resources: ResourceStore;
  clock: Clock;
  /** The service's public URL. */
  publicUrl(): string;
}

/** Builds the body schema of a panel request. The schema rejects unknown members. */
export const strictBody = (properties: Record<string, object>, required: readonly string[]) => ({
  type: 'object',
  additionalProperties: false,
  required,
  properties,
});

export const textSchema = (maxLength: number, minLength = 1) => ({
  type: 'string',
  minLength,
  maxLength,
});

/** A display name. */
export const personNameSchema = { ...textSchema(200), pattern: '\\S' };

export const emailSchema = { ...textSchema(254), pattern: '^\\s*[^\\s@]+@[^\\s@]+\\s*$' };

export const roleSchema = { type: 'string', enum: roles };

/**
 * Passwords must be long, but symbols are not required. A passphrase is easier to remember and harder to guess than
 * eight characters with a symbol.
 */
export const newPasswordSchema = textSchema(200, 12);
