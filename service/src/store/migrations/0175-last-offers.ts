/** When a source last offered a creative, within a day; null until then. Those that it no longer offers are archived. */
export const lastOffers = {
  name: '0175-last-offers',
  statements: ['ALTER TABLE creative_origins ADD COLUMN offered_at timestamptz'],
} as const;
