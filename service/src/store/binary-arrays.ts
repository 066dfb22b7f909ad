/**
 * Arrays in PostgreSQL's binary format, as parameters for `unnest($1::text[], …)`. As text or JSON
 * each element would be escaped here and parsed there, which costs more than to store the row.
 */

/** Object ids of the element types (`pg_type.dat` of PostgreSQL). */
const types = { boolean: 16, bigint: 20, integer: 23, text: 25, double: 701, timestamptz: 1184 };
const headerSize = 20;
/** PostgreSQL counts time from 2000-01-01. */
const epochMs = 946_684_800_000;

export function textArray(values: readonly (string | null | undefined)[]): Buffer {
  // No character of UTF-16 takes more than three bytes of UTF-8.
  const most = values.reduce((sum, value) => sum + 4 + 3 * (value?.length ?? 0), headerSize);
  const buffer = begin(types.text, values.length, most);
  let end = headerSize;
  for (const value of values) {
    const size = value == null ? -1 : buffer.write(value, end + 4);
    buffer.writeInt32BE(size, end);
    end += 4 + Math.max(size, 0);
  }
  return buffer.subarray(0, end);
}

/** @throws RangeError for anything but a 32-bit integer: Node silently writes `NaN` as 0. */
export const integerArray = fixed<number>(types.integer, 4, (buffer, value, at) => {
  if (!Number.isInteger(value)) throw new RangeError(`${value} is not an integer.`);
  buffer.writeInt32BE(value, at);
});

/** @throws RangeError for anything but a safe integer. */
export const bigintArray = fixed<number>(types.bigint, 8, writeInt64);

/** @throws RangeError for `NaN` and infinities. */
export const doubleArray = fixed<number>(types.double, 8, (buffer, value, at) => {
  if (!Number.isFinite(value)) throw new RangeError(`${value} is not a finite number.`);
  buffer.writeDoubleBE(value, at);
});

export const booleanArray = fixed<boolean>(types.boolean, 1, (buffer, value, at) => {
  buffer.writeUInt8(value ? 1 : 0, at);
});

/**
 * Of unix milliseconds.
 *
 * @throws RangeError for anything but a time, which would be stored as 2000-01-01.
 */
export const timeArray = fixed<number>(types.timestamptz, 8, (buffer, value, at) => {
  writeInt64(buffer, (value - epochMs) * 1_000, at);
});

function fixed<T>(
  type: number,
  size: number,
  write: (buffer: Buffer, value: T, at: number) => void,
): (values: readonly (T | null | undefined)[]) => Buffer {
  return (values) => {
    const buffer = begin(type, values.length, headerSize + values.length * (4 + size));
    let end = headerSize;
    for (const value of values) {
      if (value == null) end = buffer.writeInt32BE(-1, end);
      else {
        write(buffer, value, buffer.writeInt32BE(size, end));
        end += 4 + size;
      }
    }
    return buffer.subarray(0, end);
  };
}

/** One dimension that counts from 1, in which there may be nulls. */
function begin(type: number, length: number, size: number): Buffer {
  const buffer = Buffer.allocUnsafe(size);
  [1, 1, type, length, 1].forEach((word, index) => buffer.writeInt32BE(word, index * 4));
  return buffer;
}

/** Every whole number that JavaScript holds exactly; a BigInt would cost an object each. */
function writeInt64(buffer: Buffer, value: number, at: number): void {
  if (!Number.isSafeInteger(value)) throw new RangeError(`${value} is not a safe integer.`);
  const high = Math.floor(value / 2 ** 32);
  buffer.writeInt32BE(high, at);
  buffer.writeUInt32BE(value - high * 2 ** 32, at + 4);
}
