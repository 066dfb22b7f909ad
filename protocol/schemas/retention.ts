import Type from 'typebox';
import { named } from './common.ts';

const days = (minimum: number, maximum: number, description: string) =>
  Type.Optional(Type.Integer({ minimum, maximum, description }));

export const retentionRequestSchema = named(
  'RetentionRequest',
  'How long the account keeps its data, in both environments. What is left out is kept as long as the service keeps it.',
  {
    decision_days: days(14, 3_650, 'For decisions, their events, webhook events and deliveries.'),
    audit_days: days(30, 36_500, 'For audit records.'),
  },
);

export const retentionSchema = named(
  'Retention',
  'How long the account’s data is kept, in days. What is left out is kept forever.',
  {
    decision_days: days(1, 36_500, 'For decisions, their events, webhook events and deliveries.'),
    audit_days: days(1, 36_500, 'For audit records.'),
    child_directed_days: Type.Integer({
      description: 'For what belongs to child-directed requests, at most. It can’t be changed.',
    }),
    max_decision_days: days(1, 36_500, 'The longest `decision_days` that the service allows.'),
    max_audit_days: days(1, 36_500, 'The longest `audit_days` that the service allows.'),
  },
);
