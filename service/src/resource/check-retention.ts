import type { Placement } from '@trueward/protocol/wire';
import type { Environment } from '../key/key-text.ts';
import type { FieldError } from '../platform/refused-error.ts';
import type { Queries } from '../store/database.ts';

/** The members of a placement that look back at earlier decisions, and how far, in milliseconds. */
const windowsOf = (
  placement: Pick<Placement, 'frequency_cap' | 'cooldown_s' | 'late_window_s'>,
): [pointer: string, ms: number][] => [
  ['/frequency_cap/per_s', (placement.frequency_cap?.per_s ?? 0) * 1_000],
  ['/cooldown_s', placement.cooldown_s * 1_000],
  ['/late_window_s', placement.late_window_s * 1_000],
];

const dayMs = 86_400_000;

/** Errors for members that look back further than decisions are kept; `retentionMs` undefined: forever. */
export function checkRetention(
  placement: Parameters<typeof windowsOf>[0],
  retentionMs: number | undefined,
): FieldError[] {
  if (retentionMs === undefined) return [];
  const kept = `decisions are dropped after ${retentionMs / dayMs} days (RETENTION_DAYS of the service)`;
  return windowsOf(placement)
    .filter(([, ms]) => ms > retentionMs)
    .map(([pointer]) => ({
      pointer,
      message: `must be at most ${Math.floor(retentionMs / 1_000)}: ${kept}`,
    }));
}

/** `RETENTION_DAYS` would drop decisions that caps or late completions still need. */
export class RetentionError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'RetentionError';
  }
}

/**
 * Checks every placement at startup, before any decision is dropped.
 *
 * @throws RetentionError that names the placement that looks back furthest, and the value to set.
 */
export async function refuseShortRetention(
  queries: Queries,
  retentionMs: number | undefined,
): Promise<void> {
  if (retentionMs === undefined) return;
  const rows = await queries.query<{ environment: Environment; document: Placement }>(
    `SELECT environment, document FROM resources WHERE kind = 'placement' AND archived_at IS NULL`,
  );
  const neededMs = ({ document }: (typeof rows)[number]): number =>
    Math.max(...windowsOf(document).map(([, ms]) => ms));
  const [furthest] = rows.toSorted((a, b) => neededMs(b) - neededMs(a));
  if (!furthest || neededMs(furthest) <= retentionMs) return;
  const days = Math.ceil(neededMs(furthest) / dayMs);
  throw new RetentionError(
    `RETENTION_DAYS is ${retentionMs / dayMs}, but the ${furthest.environment} placement ${furthest.document.name} looks back ${days} days, for its caps or late completions. Set RETENTION_DAYS to ${days} or more, or unset it.`,
  );
}
