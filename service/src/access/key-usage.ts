import { BoundedMap } from '../platform/bounded-map.ts';
import type { Logger } from 'pino';
import { type Clock, formatInstant } from '../platform/time.ts';
import type { Database } from '../store/database.ts';
import { isMisplaced } from './misplaced-key.ts';
import { createPlayerUse, type PlayerSighting, type PlayerUse } from './player-use.ts';
import type { KeyPrincipal } from './principal.ts';

/** Maximum length of a recorded origin, in characters. */
export const maxOriginLength = 260;

/**
 * Records when keys were last used. Writes the times to the database in batches, because a write per request would cost
 * more than the request itself.
 */
export interface KeyUsage {
  /** @param origin the origin of the page that sent the key, if a page did */
  touch(principal: KeyPrincipal, origin?: string): void;
  /** Takes into account what a request for an ad says about the player. */
  note(principal: KeyPrincipal, sighting: PlayerSighting): void;
  /** Flushes the remaining times. */
  stop(): Promise<void>;
}

interface LastUse {
  accountId: string;
  atMs: number;
  /** The origin that was looked at last, because most requests of a key come from the same site. */
  checkedOrigin?: string;
  /** An origin on which the key doesn't belong. */
  misplacedOrigin?: string;
}

const flushIntervalMs = 10_000;
/** Far more keys than one process serves in a day. */
const maxKeys = 10_000;

export function startKeyUsage(database: Database, clock: Clock, log: Logger): KeyUsage {
  let lastUses = new Map<string, LastUse>();
  const playerUses = new BoundedMap<string, PlayerUse>(maxKeys);

  const flush = async (): Promise<void> => {
    if (lastUses.size === 0) return;
    const rows = [...lastUses].map(([id, { accountId, atMs, misplacedOrigin }]) => ({
      account_id: accountId,
      id,
      at: formatInstant(atMs),
      origin: misplacedOrigin,
      findings: playerUses.get(id)?.findings(),
    }));
    lastUses = new Map();
    await database.query(
      `UPDATE keys SET last_used_at = row.at,
          misplaced_at = CASE WHEN row.origin IS NULL THEN misplaced_at ELSE row.at END,
          misplaced_origin = coalesce(row.origin, misplaced_origin),
          findings = keys.findings || coalesce(row.findings, '{}'::jsonb)
        FROM jsonb_to_recordset($1::text::jsonb)
          AS row(account_id text, id text, at timestamptz, origin text, findings jsonb)
        WHERE keys.account_id = row.account_id AND keys.id = row.id`,
      [JSON.stringify(rows)],
    );
  };
  const flushOrLog = () =>
    flush().catch((error: unknown) => log.warn({ err: error }, 'could not record key usage'));
  const timer = setInterval(() => void flushOrLog(), flushIntervalMs);
  timer.unref();

  return {
    touch({ accountId, keyId, kind, environment }, origin) {
      const lastUse: LastUse = lastUses.get(keyId) ?? { accountId, atMs: 0 };
      lastUse.atMs = clock.nowMs();
      if (origin !== undefined && kind === 'pk' && lastUse.checkedOrigin !== origin) {
        lastUse.checkedOrigin = origin;
        if (isMisplaced(environment, origin))
          lastUse.misplacedOrigin = origin.slice(0, maxOriginLength);
      }
      lastUses.set(keyId, lastUse);
    },
    note({ keyId }, sighting) {
      const use = playerUses.get(keyId) ?? createPlayerUse();
      playerUses.set(keyId, use);
      use.note(sighting, clock.nowMs());
    },
    async stop() {
      clearInterval(timer);
      await flushOrLog();
    },
  };
}
