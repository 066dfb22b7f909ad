import { integerArray, textArray, timeArray } from '../store/binary-arrays.ts';
import type { DecisionKind, DecisionRecord } from './decision-record.ts';

/** A column, and how the values of a group of rows are sent. */
interface Column<Row> {
  name: keyof Row & string;
  type: 'text' | 'jsonb' | 'integer' | 'timestamptz';
  encode(rows: readonly Row[]): Buffer;
}

function columnsOf<Row>() {
  type Name = keyof Row & string;
  return {
    text: (name: Name, read: (row: Row) => string | null): Column<Row> => ({
      name,
      type: 'text',
      encode: (rows) => textArray(rows.map(read)),
    }),
    json: (name: Name, read: (row: Row) => object | null): Column<Row> => ({
      name,
      type: 'jsonb',
      encode: (rows) =>
        textArray(
          rows.map((row) => {
            const value = read(row);
            return value === null ? null : JSON.stringify(value);
          }),
        ),
    }),
    integer: (name: Name, read: (row: Row) => number | null): Column<Row> => ({
      name,
      type: 'integer',
      encode: (rows) => integerArray(rows.map(read)),
    }),
    time: (name: Name, read: (row: Row) => number | null): Column<Row> => ({
      name,
      type: 'timestamptz',
      encode: (rows) => timeArray(rows.map(read)),
    }),
  };
}

const own = columnsOf<DecisionRecord>();
/** What each decision has of its own. */
export const ownColumns: readonly Column<DecisionRecord>[] = [
  own.text('id', (row) => row.id),
  own.text('user_ref', (row) => row.user_ref),
  own.text('viewer', (row) => row.viewer),
  own.text('custom_data', (row) => row.custom_data),
  own.json('explain', (row) => row.explain),
  own.time('issued_at', (row) => row.issued_at),
  own.time('expires_at', (row) => row.expires_at),
  own.time('late_at', (row) => row.late_at),
];

const common = columnsOf<DecisionKind>();
/** What decisions of one kind have in common. */
export const kindColumns: readonly Column<DecisionKind>[] = [
  common.text('status', (kind) => kind.status),
  common.text('reason', (kind) => kind.reason),
  common.text('placement', (kind) => kind.placement),
  common.text('format', (kind) => kind.format),
  common.text('creative_id', (kind) => kind.creative_id),
  common.text('media_format', (kind) => kind.media_format),
  common.text('advertiser_id', (kind) => kind.advertiser_id),
  common.text('source_id', (kind) => kind.source_id),
  common.text('house_ad_id', (kind) => kind.house_ad_id),
  common.text('reserved_ad', (kind) => kind.reserved_ad),
  common.json('reward', (kind) => kind.reward),
  common.integer('required_ms', (kind) => kind.required_ms),
  common.text('invalid_reason', (kind) => kind.invalid_reason),
  common.text('simulate', (kind) => kind.simulate),
];
