import Type from 'typebox';
import { environment, id, named, time } from './common.ts';

export const auditEntrySchema = named('AuditEntry', 'An audit record: one change by an operator.', {
  id: id('auditEntry'),
  environment,
  created_at: time('When the change was made.'),
  actor: Type.String({
    description: 'The key’s id, the panel user’s e-mail address, `service`, or `command_line`.',
  }),
  action: Type.String({ description: 'The kind of change, such as `placement.updated`.' }),
  target_id: Type.String({ description: 'The id of the changed object.' }),
  request_id: Type.Optional(Type.String()),
  before: Type.Optional(
    Type.Object(
      {},
      {
        additionalProperties: true,
        description: 'The object before the change. Absent if it was created.',
      },
    ),
  ),
  after: Type.Optional(
    Type.Object(
      {},
      {
        additionalProperties: true,
        description: 'The object after the change. Absent if it was removed.',
      },
    ),
  ),
});
