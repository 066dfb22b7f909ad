import Type from 'typebox';
import { named, oneOf, time, onBehalfOf } from './common.ts';
import { resourceFields } from './resource.ts';

export const killSwitchScope = oneOf(['source', 'advertiser', 'placement']);

export const killSwitchSchema = named(
  'KillSwitch',
  'Stops a source, an advertiser or a placement immediately, including ads that clients have already loaded.',
  {
    ...resourceFields('killSwitch'),
    scope: killSwitchScope,
    target_id: Type.String({
      minLength: 1,
      maxLength: 64,
      description: 'An advertiser stands for all advertisers with its domain.',
    }),
    state: oneOf(['on', 'off']),
    reason: Type.Optional(Type.String({ maxLength: 500 })),
    actor: Type.String({
      maxLength: 254,
      description: 'The user or key that last changed the kill switch.',
    }),
    on_behalf_of: Type.Optional(onBehalfOf),
    expires_at: Type.Optional(time('When the kill switch turns off automatically.')),
  },
);
