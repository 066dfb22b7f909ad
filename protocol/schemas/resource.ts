import { environment, id, type IdKind, time } from './common.ts';

/** The members that every managed object has beside its own. */
export const resourceFields = (kind: IdKind) => ({
  id: id(kind),
  environment,
  created_at: time('When it was made.'),
  updated_at: time('When it was last changed.'),
});
