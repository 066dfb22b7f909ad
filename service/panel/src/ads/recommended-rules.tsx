import type { AdRule } from '@trueward/protocol/wire';
import { BooleanInput, useDataProvider, useGetList } from 'react-admin';
import { recommendedRules } from '../ad-rules/to-ad-rule.ts';

const first = { pagination: { page: 1, perPage: 1 } };

/** Offers the recommended ad rules, unless the environment has rules already. */
export function RecommendedRules() {
  const { total } = useGetList('ad-rules', first);
  if (total !== 0) return null;
  return (
    <BooleanInput
      source="add_rules"
      label="Add the recommended ad rules"
      helperText="No interstitial in a session’s first minute, 2 minutes between interstitials, and 1 minute after a rewarded ad."
      defaultValue
    />
  );
}

/**
 * Returns a function that takes what {@link RecommendedRules} asks out of a new placement’s values, and creates the rules
 * if they are wanted. A placement that is refused and saved again doesn’t add them twice.
 */
export function useRecommendedRules() {
  const dataProvider = useDataProvider();
  return async ({ add_rules: isWanted, ...values }: Record<string, unknown>) => {
    if (isWanted !== true || values['format'] !== 'interstitial') return values;
    const sort = { field: 'created_at', order: 'ASC' } as const;
    const { data } = await dataProvider.getList<AdRule>('ad-rules', { ...first, sort });
    if (data.length > 0) return values;
    for (const rule of recommendedRules) await dataProvider.create('ad-rules', { data: rule });
    return values;
  };
}
