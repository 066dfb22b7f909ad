import { run, formatDuration } from './run.mjs';

/**
 * @typedef {{ name: string, commands: readonly (readonly string[])[], env?: Record<string, string> }} Step
 */

/**
 * Runs steps, up to `concurrency` at a time. Each step runs its commands in sequence. Prints the name and duration of
 * each step, and the output of failed steps.
 *
 * @param {readonly Step[]} steps
 * @param {{ concurrency?: number }} [options]
 * @returns {Promise<{ passed: number, failed: number }>}
 */
export async function runSteps(steps, { concurrency = 1 } = {}) {
  const result = { passed: 0, failed: 0 };
  const queue = [...steps];
  const worker = async () => {
    for (let step = queue.shift(); step !== undefined; step = queue.shift()) {
      result[(await runStep(step)) ? 'passed' : 'failed'] += 1;
    }
  };
  await Promise.all(Array.from({ length: concurrency }, worker));
  return result;
}

/** @param {Step} step */
async function runStep({ name, commands, env = {} }) {
  let totalMs = 0;
  for (const command of commands) {
    const { code, output, ms } = await run(command, { env });
    totalMs += ms;
    if (code !== 0) {
      console.log(
        `✗ ${name} (${formatDuration(totalMs)}, exit code ${code})\n${output.trimEnd()}\n`,
      );
      return false;
    }
  }
  console.log(`✓ ${name} (${formatDuration(totalMs)})`);
  return true;
}
