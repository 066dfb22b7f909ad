import Type from 'typebox';
import { environment, id, named, time } from './common.ts';

export const auditEntrySchema = named('AuditEntry', 'One thing that an operator did.', {
  id: id('auditEntry'),
  environment,
  created_at: time('When it was done.'),
  actor: Type.String({
    description: 'The id of the key, the e-mail of the user, `service`, or `command_line`.',
  }),
  action: Type.String({ description: 'What was done: `placement.updated`.' }),
  target_id: Type.String({ description: 'The id of what it was done to.' }),
  request_id: Type.Optional(Type.String()),
  before: Type.Optional(
    Type.Object({}, { additionalProperties: true, description: 'The object before; absent: new.' }),
  ),
  after: Type.Optional(
    Type.Object({}, { additionalProperties: true, description: 'The object after; absent: gone.' }),
  ),
});
