import type { Environment } from '../key/key-text.ts';
import { groupCounts, hourMs, type Sums, sumTimes } from '../report/rollup.ts';
import { integerArray } from '../store/binary-arrays.ts';
import { kindColumns, ownColumns } from './decision-columns.ts';
import type { DecisionKind, DecisionRecord } from './decision-record.ts';

/** Decisions of one kind in one hour. */
interface Group {
  kind: DecisionKind;
  hour: number;
  times: number;
  /** Among the groups of a batch, from 1. */
  place: number;
}

/** What is the same whenever the same groups are written, as they often are where ads are few. */
interface Common {
  kinds: readonly Buffer[];
  sums: Sums;
}

/**
 * The arrays of what is stored of decisions: their own columns, the places of their groups, the columns of
 * these, their sums.
 */
export function encodeDecisions(
  environment: Environment,
  rows: readonly DecisionRecord[],
): Buffer[] {
  const hours = new Map<number, Map<DecisionKind, Group>>();
  const groupOfRows = rows.map((row) => groupOf(hours, row));
  const groups = [...hours.values()].flatMap((ofHour) => [...ofHour.values()]);
  groups.sort((a, b) => numberOf(a.kind) - numberOf(b.kind) || a.hour - b.hour);
  for (const [index, group] of groups.entries()) group.place = index + 1;

  const { kinds, sums } = commonOf(environment, groups);
  return [
    ...ownColumns.map(({ encode }) => encode(rows)),
    integerArray(groupOfRows.map(({ place }) => place)),
    ...kinds,
    ...sums.columns,
    sumTimes(
      sums,
      groups.map(({ times }) => times),
    ),
  ];
}

function groupOf(hours: Map<number, Map<DecisionKind, Group>>, row: DecisionRecord): Group {
  const { kind } = row;
  const hour = Math.floor(row.issued_at / hourMs);
  let ofHour = hours.get(hour);
  if (!ofHour) hours.set(hour, (ofHour = new Map()));
  let group = ofHour.get(kind);
  if (!group) ofHour.set(kind, (group = { kind, hour, times: 0, place: 0 }));
  group.times += 1;
  return group;
}

const numbers = new WeakMap<DecisionKind, number>();
let kindsSeen = 0;

/** A number that no other kind has. */
function numberOf(kind: DecisionKind): number {
  let number = numbers.get(kind);
  if (number === undefined) numbers.set(kind, (number = kindsSeen += 1));
  return number;
}

/** So many batches are of kinds and hours that came together before. */
const mostKnown = 100;
const known = new Map<string, Common>();

function commonOf(environment: Environment, groups: readonly Group[]): Common {
  const name = `${environment},${groups.map(({ kind, hour }) => `${numberOf(kind)} ${hour}`).join()}`;
  let common = known.get(name);
  if (!common) {
    common = {
      kinds: kindColumns.map(({ encode }) => encode(groups.map(({ kind }) => kind))),
      sums: groupCounts(groups.map((group) => countOf(environment, group))),
    };
    if (known.size >= mostKnown) known.clear();
    known.set(name, common);
  }
  return common;
}

const countOf = (environment: Environment, { kind, hour }: Group) => ({
  environment,
  dimensions: {
    placement: kind.placement,
    creativeId: kind.creative_id,
    sourceId: kind.source_id,
    advertiserId: kind.advertiser_id,
    houseAdId: kind.house_ad_id,
  },
  atMs: hour * hourMs,
  metric: kind.status,
  ...(kind.reason === null ? {} : { reason: kind.reason }),
});
