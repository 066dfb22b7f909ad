import type { ApiKey } from '@trueward/protocol/wire';

/** Whether a key works, in words. */
export function keyState({ revoked_at: revokedAt }: ApiKey, nowMs: number): string {
  if (revokedAt === undefined) return 'works';
  if (Date.parse(revokedAt) <= nowMs) return 'revoked';
  return `works until ${new Date(revokedAt).toLocaleString()}`;
}

export const isRevoked = ({ revoked_at: revokedAt }: ApiKey, nowMs: number): boolean =>
  revokedAt !== undefined && Date.parse(revokedAt) <= nowMs;
