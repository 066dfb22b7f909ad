import { beforeEach, inject } from 'vitest';

declare module 'vitest' {
  interface ProvidedContext {
    /** Titles of tests that this machine cannot run, each with the reason. Set by `npm run test:browsers`. */
    skippedTests: Record<string, string>;
  }
}

beforeEach(({ skip, task }) => {
  const reason = inject('skippedTests')[task.name];
  if (reason !== undefined) skip(reason);
});
