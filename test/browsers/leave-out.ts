import { beforeEach, inject } from 'vitest';

declare module 'vitest' {
  interface ProvidedContext {
    /** Tests that this machine cannot run, each with the reason. Set by `npm run test:browsers`. */
    leftOut: Record<string, string>;
  }
}

beforeEach(({ skip, task }) => {
  const reason = inject('leftOut')[task.name];
  if (reason !== undefined) skip(reason);
});
