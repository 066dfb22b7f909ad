const given = new Set<string>();

/** Writes a warning for the developer to the console, once per page. */
export function warnOnce(message: string): void {
  if (given.has(message)) return;
  given.add(message);
  // oxlint-disable-next-line no-console -- A warning for the developer, at most once.
  console.warn(`trueward: ${message}`);
}
