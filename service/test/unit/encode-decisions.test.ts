import fc from 'fast-check';
import { expect, test } from 'vitest';
import { kindColumns, ownColumns } from '../../src/decision/decision-columns.ts';
import type { DecisionKind, DecisionRecord } from '../../src/decision/decision-record.ts';
import { encodeDecisions } from '../../src/decision/encode-decisions.ts';
import { hourMs } from '../../src/report/rollup.ts';

const sumNames = [
  'environment',
  'placement',
  'creative_id',
  'source_id',
  'advertiser_id',
  'house_ad_id',
  'metric',
  'reason',
];

const kindOf = (
  status: DecisionKind['status'],
  placement: string,
  ad: string | null,
): DecisionKind => ({
  status,
  reason: status === 'filled' ? null : 'no_ad',
  placement,
  format: 'rewarded',
  creative_id: ad,
  media_format: null,
  advertiser_id: ad,
  source_id: null,
  house_ad_id: ad,
  reserved_ad: null,
  reward: null,
  required_ms: null,
  invalid_reason: null,
  simulate: null,
});
/** Two of them say the same, as after a change of something else. */
const kinds = [
  kindOf('filled', 'a', '1'),
  kindOf('filled', 'a', '2'),
  kindOf('filled', 'b', '1'),
  kindOf('filled', 'a', '1'),
];
const firstHour = 500_000 * hourMs;

const rowOf = (kind: DecisionKind, issued: number): DecisionRecord => ({
  kind,
  id: '',
  user_ref: null,
  viewer: null,
  custom_data: null,
  explain: null,
  issued_at: issued,
  expires_at: issued,
  late_at: null,
});
const rows = fc.array(
  fc
    .tuple(
      fc.oneof(
        fc.constantFrom(...kinds),
        fc.constantFrom('a', 'b').map((name) => kindOf('no_fill', name, null)),
      ),
      fc.constantFrom(0, 1, hourMs - 1, hourMs, 2 * hourMs - 1),
    )
    .map(([kind, afterMs]) => rowOf(kind, firstHour + afterMs)),
  { minLength: 1, maxLength: 12 },
);

/** The elements of an array in PostgreSQL's binary format, as bytes; null for NULL. */
function elements(array: Buffer): (Buffer | null)[] {
  const found: (Buffer | null)[] = [];
  for (let at = 20; at < array.length;) {
    const size = array.readInt32BE(at);
    at += 4;
    found.push(size < 0 ? null : array.subarray(at, at + size));
    at += Math.max(size, 0);
  }
  return found;
}

test('each row is stored with its kind, and the sums are those of a recount', () => {
  const batches = fc.array(fc.tuple(fc.constantFrom('live', 'sandbox'), rows), { maxLength: 8 });
  fc.assert(
    fc.property(batches, (all) => {
      for (const [environment, batch] of all) {
        const columns = encodeDecisions(environment as 'live', batch).slice(ownColumns.length);
        const [places, ...rest] = columns.map(elements);
        const ofKinds = rest.slice(0, kindColumns.length);
        const sums = rest.slice(kindColumns.length);
        const stored = places?.map((place) =>
          ofKinds.map((column) => column[(place?.readInt32BE() ?? 0) - 1]?.toString() ?? null),
        );
        const asked = batch.map(({ kind }) => kindColumns.map(({ name }) => kind[name]));
        expect(stored).toEqual(asked);

        const told = new Map<string, number>();
        for (const [index, count] of (sums.at(-1) ?? []).entries()) {
          const hour = Number(sums.at(-2)?.[index]?.readBigInt64BE()) / 3_600_000_000;
          const texts = sumNames.map((_, column) => sums[column]?.[index]?.toString());
          const name = [...texts, hour + 946_684_800_000 / hourMs].join();
          expect(told.has(name)).toBe(false);
          told.set(name, Number(count?.readBigInt64BE()));
        }
        const counted = new Map<string, number>();
        for (const { kind, issued_at } of batch) {
          const { creative_id, source_id, advertiser_id, house_ad_id } = kind;
          const ad = [creative_id, source_id, advertiser_id, house_ad_id].map((id) => id ?? '');
          const hour = Math.floor(issued_at / hourMs);
          const what = [kind.status, kind.reason ?? ''];
          const name = [environment, kind.placement, ...ad, ...what, hour].join();
          counted.set(name, (counted.get(name) ?? 0) + 1);
        }
        expect(told).toEqual(counted);
      }
    }),
  );
});
