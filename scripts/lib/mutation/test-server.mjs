/**
 * A process that runs test files again and again, each time with another mutant. Starting Vitest, transforming the
 * sources and starting PostgreSQL take most of the time of a single run, so that is done only once.
 */
import { join } from 'node:path';
import { createVitest } from 'vitest/node';
import { root } from '../run.mjs';
import { setMutant } from './apply-mutant.mjs';

/** @typedef {{ tests: string[], mutant: import('./mutate-code.mjs').Mutant | undefined }} Request */
/** @typedef {{ failed: string[], errors: string }} Response failed test files, and what went wrong in them */

const vitest = await createVitest('test', { root, watch: false, bail: 1, reporters: [{}] });
await vitest.standalone();

process.on('disconnect', () => void vitest.close().finally(() => process.exit()));
process.on('message', (request) => void respond(/** @type {Request} */ (request)));
process.send?.('ready');

/** @param {Request} request */
async function respond(request) {
  /** @type {Response} */
  let response;
  try {
    response = await runTests(request);
  } catch (error) {
    response = { failed: request.tests, errors: String(error) };
  }
  process.send?.(response);
}

/**
 * @param {Request} request
 * @returns {Promise<Response>}
 */
async function runTests({ tests, mutant }) {
  const paths = tests.map((test) => join(root, test));
  setMutant(mutant);
  if (mutant) vitest.invalidateFile(join(root, mutant.file));
  try {
    const specifications = (await vitest.globTestSpecifications(paths)).filter(({ moduleId }) =>
      paths.includes(moduleId),
    );
    if (specifications.length === 0)
      throw new Error(`No project has the tests ${tests.join(' ')}.`);
    const { unhandledErrors } = await vitest.runTestSpecifications(specifications);
    const modules = specifications.flatMap(({ testModule }) => testModule ?? []);
    const failed = modules.filter((module) => module.state() === 'failed');
    const errors = failed.flatMap((module) => [
      ...module.errors(),
      ...[...module.children.allTests('failed')].flatMap((test) => test.result().errors ?? []),
    ]);
    const messages = [...errors, ...unhandledErrors].map((error) =>
      String(/** @type {Error} */ (error).stack ?? error),
    );
    return {
      failed: failed.map(({ relativeModuleId }) => relativeModuleId),
      errors: messages.join('\n\n'),
    };
  } finally {
    setMutant(undefined);
    if (mutant) vitest.invalidateFile(join(root, mutant.file));
  }
}
