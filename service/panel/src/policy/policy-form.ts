import type { Policy } from '@trueward/protocol/wire';

type Members = Record<string, unknown>;

/** A policy as the form has it, without the lists that were emptied: an empty condition never holds. */
export function policyOf(values: Members): Pick<Policy, 'placements' | 'when' | 'block'> & Members {
  return {
    ...values,
    placements: (values['placements'] ?? []) as string[],
    when: withoutEmpty(values['when']),
    block: withoutEmpty(values['block']),
  };
}

function withoutEmpty(group: unknown): Members {
  const members = Object.entries((group ?? {}) as Members);
  return Object.fromEntries(members.filter(([, value]) => !isEmpty(value)));
}

const isEmpty = (value: unknown): boolean =>
  value === undefined ||
  value === null ||
  value === '' ||
  (Array.isArray(value) && value.length === 0);
