import {
  DataTable,
  FormDataConsumer,
  minValue,
  NumberInput,
  required,
  SelectInput,
  TextInput,
} from 'react-admin';
import { StatusColumn, NameColumn } from '../common/columns.tsx';
import { statusChoices, words } from '../common/choices.tsx';
import { CreatePage, EditPage, ListPage } from '../common/resource-pages.tsx';

export function PlacementList() {
  return (
    <ListPage>
      <NameColumn source="name" label="Name" />
      <DataTable.Col source="format" label="Format" />
      <DataTable.Col
        label="Reward"
        render={({ reward }) => (reward ? `${reward.amount} ${reward.type}` : '–')}
      />
      <DataTable.Col
        label="At most"
        render={({ frequency_cap: cap }) => (cap ? `${cap.max} in ${cap.per_s} s` : 'no limit')}
      />
      <StatusColumn source="status" label="Status" />
    </ListPage>
  );
}

export const PlacementCreate = () => (
  <CreatePage noun="placement">
    <PlacementFields isNew />
  </CreatePage>
);

export const PlacementEdit = () => (
  <EditPage noun="placement">
    <PlacementFields isNew={false} />
  </EditPage>
);

/** Name and format are what games ask for: they are chosen once. */
function PlacementFields({ isNew }: { isNew: boolean }) {
  return (
    <>
      <TextInput
        source="name"
        label="Name"
        helperText="The name that the game requests: lowercase letters, digits, hyphens."
        validate={required()}
        readOnly={!isNew}
      />
      <SelectInput
        source="format"
        label="Format"
        choices={words('rewarded', 'interstitial', 'banner')}
        validate={required()}
        readOnly={!isNew}
      />
      <FormDataConsumer>
        {({ formData }) => formData['format'] === 'rewarded' && <RewardFields />}
      </FormDataConsumer>
      <Limits />
      <SelectInput source="status" label="Status" choices={statusChoices} defaultValue="active" />
    </>
  );
}

const RewardFields = () => (
  <>
    <NumberInput
      source="reward.amount"
      label="Reward: amount"
      validate={[required(), minValue(0)]}
    />
    <TextInput
      source="reward.type"
      label="Reward: kind"
      helperText="A name from your game, such as coins."
      validate={required()}
    />
    <SelectInput
      source="identity"
      label="How a player is known"
      choices={[
        { id: 'none', name: 'The game’s page names the player' },
        { id: 'user_token', name: 'A user token signed by your server' },
        { id: 'server', name: 'Your server requests the ad' },
      ]}
      helperText="By default, the game’s page names the player."
    />
  </>
);

const Limits = () => (
  <>
    <NumberInput source="frequency_cap.max" label="Max. impressions per player" />
    <NumberInput source="frequency_cap.per_s" label="… within, in seconds" />
    <NumberInput
      source="cooldown_s"
      label="Time between two, in seconds"
      helperText="Minimum time between two ads for a player."
      defaultValue={0}
      validate={required()}
    />
    <NumberInput
      source="min_view_ms"
      label="Watched after, in milliseconds"
      helperText="For images and HTML; a video must finish."
      defaultValue={5_000}
      validate={required()}
    />
    <NumberInput
      source="close_after_ms"
      label="Close button after, in milliseconds"
      defaultValue={5_000}
      validate={required()}
    />
    <NumberInput
      source="late_window_s"
      label="Offline views count for, in seconds"
      helperText="How long offline completions are accepted."
      defaultValue={86_400}
      validate={required()}
    />
  </>
);
