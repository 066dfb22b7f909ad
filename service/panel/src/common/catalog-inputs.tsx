import { useState } from 'react';
import { AutocompleteArrayInput } from 'react-admin';
import { useWatch } from 'react-hook-form';
import {
  categories,
  type Choice,
  countries,
  getCategoryName,
  getCountryName,
  getLanguageName,
  isCategoryId,
  isLanguage,
  languages,
} from './catalogs.ts';

interface Props {
  source: string;
  label: string;
  helperText: string;
  catalog: readonly Choice[];
  nameOf(id: string): string;
  /** Whether a typed text may be used as an id that the list doesn't contain. By default, none may. */
  isOther?(text: string): boolean;
}

/** Chooses several ids from a list by their names. Chosen ids that aren't in the list are shown too. */
function CatalogInput({ source, catalog, nameOf, isOther, ...labels }: Props) {
  const chosen = useWatch<Record<string, string[] | null>>({ name: source }) ?? [];
  const [text, setText] = useState('');
  const typed = text.trim();
  const others = [...chosen, ...(isOther?.(typed) === true ? [typed] : [])].filter(
    (id) => !catalog.some((choice) => choice.id === id),
  );
  const choices = [...new Set(others)].map((id) => ({ id, name: nameOf(id) }));
  return (
    <AutocompleteArrayInput
      source={source}
      choices={[...catalog, ...choices]}
      // A choice is found by its name and by its id.
      optionText={({ id, name }: Choice) => (name === id ? id : `${name} · ${id}`)}
      setFilter={setText}
      defaultValue={[]}
      {...labels}
    />
  );
}

/** Chooses countries. */
export const CountriesInput = ({ source }: { source: string }) => (
  <CatalogInput
    source={source}
    label="Countries"
    helperText="Known if the service has been set up to learn it, or if your server sends it."
    catalog={countries}
    nameOf={getCountryName}
  />
);

/** Chooses languages. */
export const LanguagesInput = ({ source }: { source: string }) => (
  <CatalogInput
    source={source}
    label="Languages"
    helperText="A language includes its regional variants. Type a tag such as gl or es-MX for others."
    catalog={languages}
    nameOf={getLanguageName}
    isOther={isLanguage}
  />
);

/** Chooses categories of the IAB Content Taxonomy. */
export const CategoriesInput = ({ source = 'categories' }: { source?: string }) => (
  <CatalogInput
    source={source}
    label="Categories"
    helperText="What the ads are about, so that policies can block it. For a subcategory, type its IAB id, such as IAB7-39."
    catalog={categories}
    nameOf={getCategoryName}
    isOther={isCategoryId}
  />
);
