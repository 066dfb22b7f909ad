/** Values that tend to break code that doesn't validate its input. */
const hostileValues: unknown[] = [
  null,
  true,
  -1,
  0,
  1e308,
  -0.5,
  9_007_199_254_740_994,
  '',
  ' ',
  "' OR 1=1 --",
  '\u0000',
  '\ud800',
  '../../etc/passwd',
  'javascript:alert(1)',
  '%s%n',
  'x'.repeat(5_000),
  '2026-02-30T25:61:61Z',
  '9999-12-31T23:59:59.999Z',
  '0000-01-01T00:00:00Z',
  [],
  {},
  [[[]]],
  { __proto__: 1, constructor: 1 },
];

/** Replaces a random part of a value with something invalid. */
export function mutate(value: unknown, random: () => number): unknown {
  const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)] as T;
  if (typeof value !== 'object' || value === null || random() < 0.1) return pick(hostileValues);
  if (Array.isArray(value)) {
    if (value.length === 0) return [pick(hostileValues)];
    const index = Math.floor(random() * value.length);
    return (value as unknown[]).map((item, position) =>
      position === index ? mutate(item, random) : item,
    );
  }
  const names = Object.keys(value);
  const action = random();
  if (action < 0.15)
    return { ...value, [pick(['__proto__', 'extra', 'id', ''])]: pick(hostileValues) };
  const name = pick(names);
  if (name === undefined) return pick(hostileValues);
  const { [name]: member, ...rest } = value as Record<string, unknown>;
  return action < 0.3 ? rest : { ...rest, [name]: mutate(member, random) };
}
