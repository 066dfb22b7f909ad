import Type from 'typebox';
import { named, oneOf, time } from './common.ts';
import { resourceFields } from './resource.ts';

export const killSwitchScope = oneOf(['source', 'advertiser', 'placement']);

export const killSwitchSchema = named(
  'KillSwitch',
  'Stops a source, an advertiser or a placement immediately, including ads that clients have already loaded.',
  {
    ...resourceFields('killSwitch'),
    scope: killSwitchScope,
    target_id: Type.String({ minLength: 1, maxLength: 64 }),
    state: oneOf(['on', 'off']),
    reason: Type.Optional(Type.String({ maxLength: 500 })),
    actor: Type.String({ maxLength: 200, description: 'Who last changed the kill switch.' }),
    expires_at: Type.Optional(time('When the kill switch turns off automatically.')),
  },
);
