import type { ApiKey } from '@trueward/protocol/wire';
import { formatTime } from '../common/time-zone.ts';

/** Whether a key works, in words. */
export function keyState({ revoked_at: revokedAt }: ApiKey, nowMs: number, zone: string): string {
  if (revokedAt === undefined) return 'active';
  if (Date.parse(revokedAt) <= nowMs) return 'revoked';
  return `active until ${formatTime(revokedAt, zone)}`;
}

export const isRevoked = ({ revoked_at: revokedAt }: ApiKey, nowMs: number): boolean =>
  revokedAt !== undefined && Date.parse(revokedAt) <= nowMs;
