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
import { CategoriesInput } from '../common/categories-input.tsx';
import { words } from '../common/choices.ts';
import { domainHelp } from '../demand/advertisers.tsx';
import { InlineCreate } from '../common/inline-create.tsx';
import { StatusColumn } from '../common/columns.tsx';
import { NameColumn } from '../common/name-column.tsx';
import { CreatePage, EditPage, ListPage } from '../common/resource-pages.tsx';
import { EditedCreativePreview } from './edited-creative-preview.tsx';
import { MediaInput } from './media-input.tsx';

const filters = [
  <SearchInput key="q" source="q" alwaysOn aria-label="Search" />,
  <SelectInput
    key="status"
    source="review.status"
    label="Review"
    alwaysOn
    choices={words('pending_review', 'approved', 'rejected', 'suspended')}
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

/** New media or a new click-through URL puts a creative back into the review queue. */
const CreativeFields = () => (
  <>
    <TextInput source="name" label="Name" validate={required()} />
    <ReferenceInput source="advertiser_id" reference="advertisers">
      <AutocompleteInput
        label="Advertiser"
        optionText="name"
        validate={required()}
        createLabel="New advertiser …"
        createItemLabel="New advertiser %{item} …"
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
        createLabel="New source …"
        createItemLabel="New source %{item} …"
        create={
          <InlineCreate
            resource="sources"
            noun="source"
            // A VAST source has no creatives of its own.
            field={{ source: 'kind', label: 'Kind', choices: words('house', 'direct') }}
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
