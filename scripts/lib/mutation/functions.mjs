import { parseSync } from 'vite';

/** @typedef {import('./mutate-code.mjs').Node} Node */

/**
 * Lists the bodies of a file's functions in the order of their starts. The innermost function that contains a position
 * is the last one whose body does.
 *
 * @param {string} file
 * @param {string} source
 * @returns {Node[]}
 */
export function listFunctionBodies(file, source) {
  /** @type {Node[]} */
  const bodies = [];
  const visit = (/** @type {Node} */ node) => {
    if (/Function/.test(node.type) && typeof node['body']?.type === 'string')
      bodies.push(node['body']);
    for (const value of Object.values(node)) {
      for (const child of Array.isArray(value) ? value : [value])
        if (typeof child?.type === 'string') visit(child);
    }
  };
  visit(/** @type {any} */ (parseSync(file, source).program));
  return bodies.toSorted((a, b) => a.start - b.start);
}

/**
 * Returns the names under which the functions that contain a position are recorded, from the inside to the outside.
 * Code outside of functions belongs to all of the file's functions.
 *
 * @param {string} file
 * @param {string} source
 * @param {number} position
 */
export function namesAt(file, source, position) {
  const bodies = listFunctionBodies(file, source).map(({ start, end }, index) => ({
    start,
    end,
    name: `${file}#${index}`,
  }));
  const around = bodies.filter(({ start, end }) => start <= position && position < end);
  return around.length > 0 ? [around.at(-1)?.name ?? ''] : bodies.map(({ name }) => name);
}

/**
 * Returns a file's code, with a call at the beginning of each function that records its name.
 *
 * @param {string} file
 * @param {string} source
 */
export function recordCalls(file, source) {
  const inserts = listFunctionBodies(file, source).flatMap(({ type, start, end }, index) => {
    const call = `globalThis.truewardHit?.(${JSON.stringify(`${file}#${index}`)})`;
    return type === 'BlockStatement' || type === 'FunctionBody'
      ? [{ at: start + 1, text: ` ${call};` }]
      : [
          { at: start, text: `(${call}, ` },
          { at: end, text: ')' },
        ];
  });
  let code = source;
  for (const { at, text } of inserts.toSorted((a, b) => b.at - a.at))
    code = code.slice(0, at) + text + code.slice(at);
  return code;
}
