import Type from 'typebox';
import { environment, id, named, time } from './common.ts';

export const auditEntrySchema = named(
  'AuditEntry',
  'An audit record, which describes one change.',
  {
    id: id('auditEntry'),
    environment,
    created_at: time('When the change was made.'),
    actor: Type.String({
      description:
        'The id of a key, the e-mail address of a panel user, `service`, or `command_line`.',
    }),
    action: Type.String({ description: 'The kind of change, such as `placement.updated`.' }),
    target_id: Type.String({ description: 'The changed object’s id.' }),
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
  },
);
