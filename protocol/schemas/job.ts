import Type from 'typebox';
import { environment, id, named, oneOf, time } from './common.ts';

export const jobSchema = named(
  'Job',
  'Work that continues in the background after the request that started it.',
  {
    id: id('job'),
    environment,
    kind: oneOf(
      ['recovery', 'erasure'],
      '`recovery` resends webhook events, `erasure` erases a player.',
    ),
    state: oneOf(['running', 'done', 'canceled', 'failed']),
    reason: Type.Optional(Type.String({ description: 'Why the job failed.' })),
    request: Type.Record(Type.String(), Type.String(), {
      description: 'What was requested, such as `webhook_id` and `since`.',
    }),
    progress: Type.Number({ minimum: 0, maximum: 1, description: 'The share that is done.' }),
    counts: Type.Record(Type.String(), Type.Integer(), {
      description: 'What was done so far, such as the number of events that were `queued`.',
    }),
    actor: Type.String({ description: 'Who started the job: a key or an e-mail address.' }),
    created_at: time('When the job was started.'),
    finished_at: Type.Optional(time('When the job ended.')),
  },
);
