import type { Media } from '@trueward/protocol/wire';
import { DataTable, ReferenceField, SearchInput, SelectInput } from 'react-admin';
import { makeChoices } from '../common/choices.tsx';
import { NameColumn, StatusColumn, wideOnly } from '../common/columns.tsx';
import { CreatePage, EditPage, ListPage } from '../resource/resource-pages.tsx';
import { CreativeFields } from './creative-fields.tsx';
import { Thumbnail } from './thumbnail.tsx';

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
    <DataTable.Col
      source="media.format"
      label="Ad"
      render={({ media }) => <Thumbnail media={media as Media} />}
    />
    <NameColumn source="name" label="Name" />
    <DataTable.Col {...wideOnly} source="media.format" label="Format" />
    <DataTable.Col {...wideOnly} source="advertiser_id" label="Advertiser">
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
