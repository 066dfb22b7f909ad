import type { Clock } from '../platform/clock.ts';
import type { MakeId } from '../platform/ids.ts';
import type { Queries } from '../store/database.ts';
import { hashKey, makeKeyText, type KeyKind } from './key-text.ts';
import type { Environment } from './key-text.ts';

interface NewKey {
  accountId: string;
  environment: Environment;
  kind: KeyKind;
  /** Where a publishable key may be used; `*` is everywhere. */
  allowedOrigins: string[];
}

/** Makes a key and hands back its text, which is not stored and cannot be read again. */
export async function createKey(
  queries: Queries,
  clock: Clock,
  makeId: MakeId,
  key: NewKey,
): Promise<string> {
  const text = makeKeyText(key.kind, key.environment);
  await queries.query(
    `INSERT INTO keys (account_id, id, environment, kind, hash, last_four, allowed_origins, created_at)
      VALUES ($1, $2, $3, $4, $5, $6, $7::text::jsonb, $8)`,
    [
      key.accountId,
      makeId('key'),
      key.environment,
      key.kind,
      hashKey(text),
      text.slice(-4),
      JSON.stringify(key.allowedOrigins),
      new Date(clock.nowMs()),
    ],
  );
  return text;
}
