import { TextArrayInput } from 'react-admin';

/** Ids of the IAB Content Taxonomy. */
export const CategoriesInput = ({ source = 'categories' }: { source?: string }) => (
  <TextArrayInput
    source={source}
    label="Categories"
    helperText="IAB Content Taxonomy ids. Press Enter after each."
    defaultValue={[]}
  />
);
