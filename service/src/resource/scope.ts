import type { Environment } from '../key/key-text.ts';

/** Whose rows a call is about. */
export interface Scope {
  accountId: string;
  environment: Environment;
}

/** Items by account and environment, in the order of their first one. */
export function groupByScope<T extends { scope: Scope }>(items: readonly T[]): [T, ...T[]][] {
  const groups = new Map<string, [T, ...T[]]>();
  // Those of one key share their scope, which is found sooner than its name is made.
  const known = new Map<Scope, [T, ...T[]]>();
  for (const item of items) {
    const { scope } = item;
    let group = known.get(scope);
    if (group) {
      group.push(item);
      continue;
    }
    const name = `${scope.accountId} ${scope.environment}`;
    group = groups.get(name);
    if (group) group.push(item);
    else groups.set(name, (group = [item]));
    known.set(scope, group);
  }
  return [...groups.values()];
}
