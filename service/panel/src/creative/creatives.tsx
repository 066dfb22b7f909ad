import type { Creative, Media } from '@trueward/protocol/wire';
import {
  AutocompleteInput,
  DataTable,
  ReferenceField,
  ReferenceInput,
  required,
  SearchInput,
  SelectInput,
  TextInput,
} from 'react-admin';
import { useWatch } from 'react-hook-form';
import { domainHelp } from '../ads/advertisers.tsx';
import { CategoriesInput } from '../common/catalog-inputs.tsx';
import { makeChoices } from '../common/choices.tsx';
import { StatusColumn, NameColumn } from '../common/columns.tsx';
import { InlineCreate } from '../common/inline-create.tsx';
import { CreatePage, EditPage, ListPage } from '../resource/resource-pages.tsx';
import { CreativePreview } from '../preview/creative-preview.tsx';
import { MediaInput } from './media-input.tsx';

const filters = [
  <SearchInput key="q" source="q" alwaysOn aria-label="Search" />,
  <SelectInput
    key="status"
    source="review.status"
    label="Review"
    alwaysOn
    choices={makeChoices('pending_review', 'approved', 'rejected', 'suspended')}
  />,
];

export const CreativeList = () => (
  <ListPage filters={filters}>
    <NameColumn source="name" label="Name" />
    <DataTable.Col source="media.format" label="Format" />
    <DataTable.Col source="advertiser_id" label="Advertiser">
      <ReferenceField source="advertiser_id" reference="advertisers" link={false} />
    </DataTable.Col>
    <StatusColumn source="review.status" label="Review" />
  </ListPage>
);

export const CreativeCreate = () => (
  <CreatePage noun="creative">
    <CreativeFields />
  </CreatePage>
);

export const CreativeEdit = () => (
  <EditPage noun="creative">
    <CreativeFields />
  </EditPage>
);

/** Form fields for a creative. Changing the media or the click-through URL returns the creative to the review queue. */
const CreativeFields = () => (
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
    <MediaInput />
    <TextInput source="click_url" type="url" label="Click-through URL" />
    <TextInput
      source="alt"
      label="Alt text"
      helperText="Describes the ad to players who cannot see it."
      validate={required()}
    />
    <CategoriesInput />
    <EditedCreativePreview />
  </>
);

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
