import { beforeEach, inject } from 'vitest';

declare module 'vitest' {
  interface ProvidedContext {
    /** Tests that this machine cannot run, with the reasons. `npm run test:browsers` sets this. */
    leftOut: Record<string, string>;
  }
}

beforeEach(({ skip, task }) => {
  const reason = inject('leftOut')[task.name];
  if (reason !== undefined) skip(reason);
});
