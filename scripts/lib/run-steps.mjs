import { run, seconds } from './run.mjs';

/**
 * @typedef {{ name: string, commands: readonly (readonly string[])[] }} Step
 */

/**
 * Runs steps, each the commands of which run one after another; prints the name and the time of
 * each, and the output of one that fails.
 *
 * @param {readonly Step[]} steps
 * @param {{ atOnce?: number }} [options]
 * @returns {Promise<{ passed: number, failed: number }>}
 */
export async function runSteps(steps, { atOnce = 1 } = {}) {
  const result = { passed: 0, failed: 0 };
  const waiting = [...steps];
  const worker = async () => {
    for (let step = waiting.shift(); step !== undefined; step = waiting.shift()) {
      result[(await runStep(step)) ? 'passed' : 'failed'] += 1;
    }
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
  return result;
}

/** @param {Step} step */
async function runStep({ name, commands }) {
  let total = 0;
  for (const command of commands) {
    const { code, output, ms } = await run(command);
    total += ms;
    if (code !== 0) {
      console.log(`✗ ${name} (${seconds(total)}, exit code ${code})\n${output.trimEnd()}\n`);
      return false;
    }
  }
  console.log(`✓ ${name} (${seconds(total)})`);
  return true;
}
