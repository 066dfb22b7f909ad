import { TextArrayInput } from 'react-admin';

/** Ids of the IAB Content Taxonomy. */
export const CategoriesInput = ({ source = 'categories' }: { source?: string }) => (
  <TextArrayInput
    source={source}
    label="Categories"
    helperText="Ids of the IAB Content Taxonomy, each with Enter."
    defaultValue={[]}
  />
);
