/**
 * This repository's own lint rules, as an oxlint plugin. No published rule covers the quirks of Cocos Creator's
 * compiler.
 */

const message =
  'Cocos Creator’s option “Loose” compiles `[...values]` to `[].concat(values)`, which turns a set into an array that contains the set. Use `Array.from(values)`, or `concat()` for arrays.';

const arrayMethods = new Set(['concat', 'filter', 'flat', 'flatMap', 'map', 'slice', 'sort']);

/**
 * Returns whether the syntax of an expression proves that its value is an array.
 *
 * @param {any} node
 * @returns {boolean}
 */
function isArray(node) {
  switch (node.type) {
    case 'ArrayExpression':
      return true;
    case 'ConditionalExpression':
      return isArray(node.consequent) && isArray(node.alternate);
    case 'TSAsExpression':
      return isArray(node.expression);
    case 'CallExpression':
      return arrayMethods.has(node.callee.property?.name);
    default:
      return false;
  }
}

/** Rejects `[...values]` unless the syntax of `values` proves that it is an array. */
const noIterableSpread = {
  /** @param {{ report(problem: object): void }} context */
  create: (context) => ({
    /** @param {{ elements: any[] }} array */
    ArrayExpression({ elements }) {
      for (const node of elements)
        if (node?.type === 'SpreadElement' && !isArray(node.argument))
          context.report({ message, node });
    },
  }),
};

export default { meta: { name: 'trueward' }, rules: { 'no-iterable-spread': noIterableSpread } };
