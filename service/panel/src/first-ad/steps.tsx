import { Alert, Typography } from '@mui/material';
import type { Advertiser, Creative, Placement, Source } from '@trueward/protocol/wire';
import type { ReactNode } from 'react';
import {
  CreateBase,
  SaveButton,
  TextInput,
  Toolbar,
  required,
  useCanAccess,
  useDataProvider,
  useRefresh,
} from 'react-admin';
import { AdvertiserFields } from '../ads/advertisers.tsx';
import { PlacementBasics } from '../ads/placement-fields.tsx';
import { useRecommendedRules } from '../ads/recommended-rules.tsx';
import { PanelForm } from '../common/panel-form.tsx';
import { AdFields } from '../creative/creative-fields.tsx';
import { OriginsInput } from '../key/key-fields.tsx';

interface StepFormProps {
  resource: string;
  /** The button's text. */
  action: string;
  /** What the step is for. */
  text: string;
  /** The values that the form starts with, including those that it doesn't show. */
  values?: Record<string, unknown>;
  transform?(values: Record<string, unknown>): Promise<Record<string, unknown>>;
  children: ReactNode;
}

/** Creates one object. The next step follows when the lists have been read again. */
function StepForm({ resource, action, text, values = {}, transform, children }: StepFormProps) {
  const refresh = useRefresh();
  return (
    <CreateBase
      resource={resource}
      record={values}
      redirect={false}
      mutationOptions={{ onSuccess: refresh }}
      {...(transform === undefined ? {} : { transform })}
    >
      <Typography color="textSecondary">{text}</Typography>
      <PanelForm
        warnWhenUnsavedChanges={false}
        toolbar={
          <Toolbar>
            <SaveButton label={action} icon={<></>} alwaysEnable />
          </Toolbar>
        }
      >
        {children}
      </PanelForm>
    </CreateBase>
  );
}

export const PlacementStep = () => (
  <StepForm
    resource="placements"
    action="Create placement"
    text="A placement is a moment in your game at which an ad can be shown, such as when a run is lost."
    values={{ format: 'rewarded' }}
    transform={useRecommendedRules()}
  >
    <PlacementBasics isNew />
  </StepForm>
);

export const AdvertiserStep = () => (
  <StepForm
    resource="advertisers"
    action="Create advertiser"
    text="Whose ad it is. For an ad for your own games, this is you."
  >
    <AdvertiserFields />
  </StepForm>
);

export function CreativeStep({ advertiser }: { advertiser: Advertiser }) {
  const dataProvider = useDataProvider();
  /** Your own ads come from the house source, which an empty environment doesn't have yet. */
  const addSource = async (values: Record<string, unknown>) => {
    const { data } = await dataProvider.getList<Source>('sources', {
      filter: { kind: 'house' },
      pagination: { page: 1, perPage: 1 },
      sort: { field: 'created_at', order: 'ASC' },
    });
    const source =
      data[0] ??
      (await dataProvider.create<Source>('sources', { data: { name: 'House', kind: 'house' } }))
        .data;
    return { ...values, source_id: source.id };
  };
  return (
    <StepForm
      resource="creatives"
      action="Submit for review"
      text="The video, picture or page that players see."
      values={{ name: advertiser.name, advertiser_id: advertiser.id, categories: [] }}
      transform={addSource}
    >
      <TextInput source="name" label="Name" validate={required()} />
      <AdFields />
    </StepForm>
  );
}

export const HouseAdStep = ({
  creative,
  placement,
}: {
  creative: Creative;
  placement: Placement;
}) => (
  <StepForm
    resource="house-ads"
    action="Create house ad"
    text={`The house ad shows the creative ${creative.name} on the placement ${placement.name}.`}
    values={{
      name: creative.name,
      creative_id: creative.id,
      placements: [placement.name],
      status: 'active',
    }}
  >
    <TextInput source="name" label="Name" validate={required()} />
  </StepForm>
);

export function KeyStep() {
  const { canAccess = true } = useCanAccess({ resource: 'keys', action: 'create' });
  if (!canAccess)
    return <Alert severity="info">Only an owner can create keys. Ask one to go on here.</Alert>;
  return (
    <StepForm
      resource="keys"
      action="Create key"
      text="With its publishable key, the game asks for ads. It is not a secret."
      values={{ kind: 'publishable', name: 'Game' }}
    >
      <OriginsInput />
    </StepForm>
  );
}
