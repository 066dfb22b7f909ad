import type { Policy } from '@trueward/protocol/wire';
import { getCategoryName, getCountryName, getLanguageName } from '../common/catalogs.ts';

type Rule = Pick<Policy, 'placements' | 'when' | 'block'>;

/** Describes a policy in a sentence, such as `On revive, when the country is Germany: blocks every ad.` */
export function describePolicy(
  { placements = [], when = {}, block = {} }: Partial<Rule>,
  nameOf: (id: string) => string = (id) => id,
): string {
  const where = placements.length === 0 ? 'Everywhere' : `On ${joinWithOr(placements)}`;
  const conditions = describeConditions(when);
  const condition = conditions.length === 0 ? '' : `, when ${conditions.join(' and ')}`;
  return `${where}${condition}: blocks ${describeBlock(block, nameOf)}.`;
}

function describeConditions(when: Policy['when']): string[] {
  const lists: [string, readonly (string | number)[] | undefined][] = [
    ['the country is', when.countries?.map(getCountryName)],
    ['the language is', when.languages?.map(getLanguageName)],
    ['the device is', when.devices],
    ['the hour (UTC) is', when.hours],
    ['the player segment is', when.segments],
  ];
  const conditions = lists.flatMap(([text, values]) =>
    values === undefined || values.length === 0 ? [] : [`${text} ${joinWithOr(values)}`],
  );
  if (when.child_directed === true) conditions.push('the game is directed at children');
  if (when.child_directed === false) conditions.push('the game is not directed at children');
  return conditions;
}

function describeBlock(block: Policy['block'], nameOf: (id: string) => string): string {
  if (block.everything === true) return 'every ad';
  const lists: [string, readonly string[] | undefined][] = [
    ['ads by', block.advertisers?.map(nameOf)],
    ['ads from', block.sources?.map(nameOf)],
    ['ads for the domain', block.domains],
    ['ads in the category', block.categories?.map(getCategoryName)],
    ['the format', block.formats],
  ];
  const parts = lists.flatMap(([text, values]) =>
    values === undefined || values.length === 0 ? [] : [`${text} ${joinWithOr(values)}`],
  );
  return parts.length === 0 ? 'nothing yet' : parts.join(', and ');
}

const joinWithOr = (values: readonly (string | number)[]): string => {
  const last = values.at(-1) ?? '';
  return values.length < 2 ? String(last) : `${values.slice(0, -1).join(', ')} or ${last}`;
};

type Fields = Record<string, unknown>;

/** Converts form values to a policy, without cleared lists. */
export function toPolicy(values: Fields): Pick<Policy, 'placements' | 'when' | 'block'> & Fields {
  return {
    ...values,
    placements: (values['placements'] ?? []) as string[],
    when: withoutEmpty(values['when']),
    block: withoutEmpty(values['block']),
  };
}

function withoutEmpty(group: unknown): Fields {
  const fields = Object.entries((group ?? {}) as Fields);
  return Object.fromEntries(fields.filter(([, value]) => !isEmpty(value)));
}

const isEmpty = (value: unknown): boolean =>
  value === undefined ||
  value === null ||
  value === '' ||
  (Array.isArray(value) && value.length === 0);
