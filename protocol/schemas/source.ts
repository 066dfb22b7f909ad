import Type from 'typebox';
import { named, oneOf, url } from './common.ts';
import { resourceFields, status } from './resource.ts';

export const sourceSchema = named('Source', 'Where ads come from.', {
  ...resourceFields('source'),
  name: Type.String({ minLength: 1, maxLength: 200 }),
  kind: oneOf(['house', 'direct', 'vast']),
  tag_url: Type.Optional(url),
  timeout_ms: Type.Optional(Type.Integer({ minimum: 100, maximum: 5_000 })),
  status,
});
