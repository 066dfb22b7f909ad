import type { Creative, Media, Source } from '@trueward/protocol/wire';
import { useEffect } from 'react';
import { AutocompleteInput, ReferenceInput, required, TextInput, useGetList } from 'react-admin';
import { useFormContext, useWatch } from 'react-hook-form';
import { domainHelp } from '../ads/advertisers.tsx';
import { CategoriesInput } from '../common/catalog-inputs.tsx';
import { makeChoices } from '../common/choices.tsx';
import { InlineCreate } from '../common/inline-create.tsx';
import { CreativePreview } from '../preview/creative-preview.tsx';
import { MediaInput } from './media-input.tsx';

/** Form fields for a creative. Changing the media or the click-through URL returns the creative to the review queue. */
export const CreativeFields = () => (
  <>
    <TextInput source="name" label="Name" validate={required()} />
    <ReferenceInput source="advertiser_id" reference="advertisers">
      <AutocompleteInput
        label="Advertiser"
        optionText="name"
        validate={required()}
        createLabel="New advertiser…"
        createItemLabel="New advertiser %{item}…"
        create={
          <InlineCreate
            resource="advertisers"
            noun="advertiser"
            field={{ source: 'domain', label: 'Domain', helperText: domainHelp }}
          />
        }
      />
    </ReferenceInput>
    <DefaultSource />
    <ReferenceInput source="source_id" reference="sources">
      <AutocompleteInput
        label="Source"
        optionText="name"
        validate={required()}
        createLabel="New source…"
        createItemLabel="New source %{item}…"
        create={
          <InlineCreate
            resource="sources"
            noun="source"
            // External sources can't have manually created creatives.
            field={{ source: 'kind', label: 'Kind', choices: makeChoices('house', 'direct') }}
          />
        }
      />
    </ReferenceInput>
    <AdFields />
    <CategoriesInput />
    <EditedCreativePreview />
  </>
);

/** What players see of a creative, and where it leads. */
export const AdFields = () => (
  <>
    <MediaInput />
    <TextInput source="click_url" type="url" label="Click-through URL" />
    <TextInput
      source="alt"
      label="Alt text"
      helperText="Describes the ad to players who cannot see it. It is also the title of an ad without a reward."
      validate={required()}
    />
  </>
);

/** Chooses the house source for a new creative, if there is exactly one: nearly all creatives have it. */
function DefaultSource() {
  const { setValue } = useFormContext();
  const chosen = useWatch<Record<string, string | undefined>>({ name: 'source_id' });
  const { data = [] } = useGetList<Source>('sources', {
    filter: { kind: 'house' },
    pagination: { page: 1, perPage: 2 },
    sort: { field: 'name', order: 'ASC' },
  });
  const id = data.length === 1 ? data[0]?.id : undefined;
  const isOpen = chosen === undefined;
  useEffect(() => {
    if (id !== undefined && isOpen) setValue('source_id', id);
  }, [id, isOpen, setValue]);
  return null;
}

/** A placeholder id for previewing an unsaved creative. */
const unsavedId = 'crv_00000000000000000000000000';

/** Previews the creative as edited in the form. */
function EditedCreativePreview() {
  const [id, media, alt, clickUrl] = useWatch<Record<string, unknown>>({
    name: ['id', 'media', 'alt', 'click_url'],
  }) as [string | undefined, Media | undefined, string | undefined, string | undefined];
  if (!media) return null;
  const creative: Pick<Creative, 'id' | 'media' | 'alt' | 'click_url'> = {
    id: id ?? unsavedId,
    media,
    alt: alt ?? '',
    ...(clickUrl ? { click_url: clickUrl } : {}),
  };
  return <CreativePreview title="Preview" creative={creative} />;
}
