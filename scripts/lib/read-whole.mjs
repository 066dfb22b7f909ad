/**
 * Reads a whole number from an environment variable.
 *
 * @template {number | undefined} Default
 * @param {string} name
 * @param {Default} fallback the value if the variable isn't set or is empty
 * @param {{ least?: number, most?: number, what?: string, env?: Record<string, string | undefined> }} [options] Default:
 * a whole number from 1 to a million, from this process's environment. `what` describes it in the error.
 * @returns {number | Default}
 * @throws Error if the variable has another value
 */
export function readWhole(name, fallback, options = {}) {
  const { least = 1, most = 1_000_000, what = 'a whole number', env = process.env } = options;
  const text = env[name];
  if (text === undefined || text === '') return fallback;
  const value = Number(text);
  if (Number.isInteger(value) && value >= least && value <= most) return value;
  throw new Error(`${name} is ${text}, but must be ${what} from ${least} to ${most}.`);
}
