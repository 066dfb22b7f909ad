import Type from 'typebox';
import { environment, id, type IdKind, time } from './common.ts';

/** Whether an object is in use. */
export const status = Type.Enum(['active', 'paused'], { default: 'active' });

/** Creates the fields that all managed objects have. */
export const resourceFields = (kind: IdKind) => ({
  id: id(kind),
  environment,
  created_at: time('When the object was created.'),
  updated_at: time('When the object was last changed.'),
});
