/** Which bytes of a file of `size` bytes a `Range` header asks for. */
export type MediaRange = { start: number; end: number } | 'all' | 'unsatisfiable';

/** Reads one byte range (RFC 9110, 14.1.2); several at once, or what is malformed, mean the whole file. */
export function readRange(header: string | undefined, size: number): MediaRange {
  const match = /^bytes=(\d*)-(\d*)$/.exec(header ?? '');
  if (!match || (match[1] === '' && match[2] === '')) return 'all';
  const [first, last] = [match[1] ?? '', match[2] ?? ''];
  const start = first === '' ? Math.max(0, size - Number(last)) : Number(first);
  const end = first === '' || last === '' ? size - 1 : Math.min(Number(last), size - 1);
  if (first !== '' && last !== '' && Number(last) < Number(first)) return 'all';
  return start > end ? 'unsatisfiable' : { start, end };
}
