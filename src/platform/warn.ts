const given = new Set<string>();

/**
 * Writes a warning for the developer to the console, once per page.
 *
 * @param name What the warning is about, if its text varies.
 */
export function warnOnce(message: string, name = message): void {
  if (given.has(name)) return;
  given.add(name);
  // oxlint-disable-next-line no-console -- A warning for the developer, at most once.
  console.warn(`trueward: ${message}`);
}
