import type { FieldError } from '../platform/refused-error.ts';
import type { Queries } from '../store/database.ts';
import type { ResourceKind, Stored } from './resource.ts';
import type { Scope } from './scope.ts';

/** A member that names another object: by id; a placement by its name or, in a kill switch, by either. */
interface Reference {
  pointer: string;
  kind: ResourceKind;
  name: string;
}

/** The objects that a document names. Pure. */
export function referencesOf<K extends ResourceKind>(kind: K, document: Stored<K>): Reference[] {
  switch (kind) {
    case 'creative': {
      const { advertiser_id, source_id } = document as Stored<'creative'>;
      return [
        { pointer: '/advertiser_id', kind: 'advertiser', name: advertiser_id },
        { pointer: '/source_id', kind: 'source', name: source_id },
      ];
    }
    case 'houseAd': {
      const { creative_id, placements } = document as Stored<'houseAd'>;
      return [
        { pointer: '/creative_id', kind: 'creative', name: creative_id },
        ...each('/placements', 'placement', placements),
      ];
    }
    case 'policy': {
      const { placements, block } = document as Stored<'policy'>;
      return [
        ...each('/placements', 'placement', placements),
        ...each('/block/advertisers', 'advertiser', block.advertisers),
        ...each('/block/sources', 'source', block.sources),
      ];
    }
    case 'killSwitch': {
      const { scope, target_id } = document as Stored<'killSwitch'>;
      return [{ pointer: '/target_id', kind: scope, name: target_id }];
    }
    default:
      return [];
  }
}

const each = (pointer: string, kind: ResourceKind, names: readonly string[] = []): Reference[] =>
  names.map((name, index) => ({ pointer: `${pointer}/${index}`, kind, name }));

/** What is wrong with a document's references: the objects have to be in the same environment. */
export async function checkReferences(
  queries: Queries,
  scope: Scope,
  references: readonly Reference[],
): Promise<FieldError[]> {
  if (references.length === 0) return [];
  const rows = await queries.query<{ kind: ResourceKind; id: string; name: string | null }>(
    `SELECT kind, id, document->>'name' AS name FROM resources
      WHERE account_id = $1 AND environment = $2 AND archived_at IS NULL
        AND kind IN (SELECT jsonb_array_elements_text($3::text::jsonb))
        AND (id IN (SELECT jsonb_array_elements_text($4::text::jsonb))
          OR (kind = 'placement' AND document->>'name' IN (SELECT jsonb_array_elements_text($4::text::jsonb))))`,
    [
      scope.accountId,
      scope.environment,
      JSON.stringify([...new Set(references.map(({ kind }) => kind))]),
      JSON.stringify([...new Set(references.map(({ name }) => name))]),
    ],
  );
  return references
    .filter(
      ({ kind, name }) =>
        !rows.some(
          (row) =>
            row.kind === kind && (row.id === name || (kind === 'placement' && row.name === name)),
        ),
    )
    .map(({ pointer, kind }) => ({ pointer, message: `names no ${kind} of this environment` }));
}

/** Where objects of one kind are named by others: SQL that finds one which names `$3` (id) or `$4` (name). */
const users: Partial<Record<ResourceKind, string>> = {
  advertiser: `kind = 'creative' AND document->>'advertiser_id' = $3`,
  source: `kind = 'creative' AND document->>'source_id' = $3`,
  creative: `kind = 'houseAd' AND document->>'creative_id' = $3`,
  placement: `kind IN ('houseAd', 'policy') AND document->'placements' ? $4`,
};

/** The id of an object that names this one, and would be left without it. */
export async function findUser(
  queries: Queries,
  scope: Scope,
  kind: ResourceKind,
  { id, name }: { id: string; name: string },
): Promise<string | undefined> {
  const condition = users[kind];
  if (condition === undefined) return undefined;
  const [row] = await queries.query<{ id: string }>(
    `SELECT id FROM resources
      WHERE account_id = $1 AND environment = $2 AND archived_at IS NULL
        AND ($3::text IS NOT NULL) AND ($4::text IS NOT NULL) AND ${condition} LIMIT 1`,
    [scope.accountId, scope.environment, id, name],
  );
  return row?.id;
}
