import type { Environment } from '../key/key-text.ts';

/** Whose rows a call is about. */
export interface Scope {
  accountId: string;
  environment: Environment;
}

/** Items by account and environment, in the order of their first one. */
export function groupByScope<T extends { scope: Scope }>(items: readonly T[]): [T, ...T[]][] {
  const groups = new Map<string, [T, ...T[]]>();
  for (const item of items) {
    const key = `${item.scope.accountId} ${item.scope.environment}`;
    const group = groups.get(key);
    if (group) group.push(item);
    else groups.set(key, [item]);
  }
  return [...groups.values()];
}
