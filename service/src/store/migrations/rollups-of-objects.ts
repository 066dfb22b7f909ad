/**
 * For the figures of a placement, a creative, an advertiser or a house ad: without these indexes, they would read those of
 * all others. Sources are few, and the first of them has most of the counts.
 */
export const rollupsOfObjects = {
  name: '0006-rollups-of-objects',
  indexes: ['placement', 'creative_id', 'advertiser_id', 'house_ad_id'].map((column) => ({
    name: `rollups_by_${column}`,
    table: 'rollups',
    on: `(account_id, environment, ${column}, hour)`,
  })),
};
