import { parseSync } from 'vite';
import { looksLikeSql, mutateSql } from './mutate-sql.mjs';

/**
 * A small fault: the text between `start` and `end` of a file is replaced.
 *
 * @typedef {object} Mutant
 * @property {string} file path from the repository's root
 * @property {number} line
 * @property {string} lineText the line's text, before the fault
 * @property {number} start
 * @property {number} end
 * @property {string} original
 * @property {string} replacement
 * @property {'code' | 'sql'} kind
 */

/** @typedef {{ type: string, start: number, end: number, [member: string]: any }} Node */
/** @typedef {Pick<Mutant, 'start' | 'end' | 'replacement' | 'kind'>} Edit */

/** @type {Record<string, string>} */
const binaryOperators = {
  '<': '<=',
  '<=': '<',
  '>': '>=',
  '>=': '>',
  '===': '!==',
  '!==': '===',
  '+': '-',
  '-': '+',
  '*': '/',
  '/': '*',
};
/** @type {Record<string, string>} */
const logicalOperators = { '&&': '||', '||': '&&', '??': '&&' };

/**
 * Returns a file's mutants in the order of their positions. Skips those that don't parse.
 *
 * @param {string} file
 * @param {string} source
 * @returns {Mutant[]}
 */
export function mutateFile(file, source) {
  const { program, errors } = parseSync(file, source);
  if (errors.length > 0) throw new Error(`${file} does not parse: ${errors[0]?.message}`);
  /** @type {Edit[]} */
  const edits = [];
  visit(/** @type {any} */ (program), source, edits);
  const lines = source.split('\n');
  return edits
    .map((edit) => ({ ...edit, line: source.slice(0, edit.start).split('\n').length }))
    .map((edit) => ({
      file,
      lineText: lines[edit.line - 1] ?? '',
      original: source.slice(edit.start, edit.end),
      ...edit,
    }))
    .filter(
      // Only another operator can need parentheses.
      (mutant) =>
        !(mutant.original in logicalOperators) ||
        parseSync(file, applyMutant(source, mutant)).errors.length === 0,
    )
    .toSorted((a, b) => a.start - b.start);
}

/**
 * @param {string} source
 * @param {Pick<Mutant, 'start' | 'end' | 'replacement'>} mutant
 */
export const applyMutant = (source, { start, end, replacement }) =>
  source.slice(0, start) + replacement + source.slice(end);

/**
 * Whether a mutant shifts a comparison with something named as a limit, such as `size >= maxCached`: only a test on both
 * sides of the edge notices it.
 *
 * @param {Mutant} mutant
 */
export const isLimit = ({ kind, original, lineText }) =>
  kind === 'code' && /^[<>]=?$/.test(original) && /\b(max|min)[A-Z]|[lL]imit/.test(lineText);

/**
 * @param {Node} node
 * @param {string} source
 * @param {Edit[]} edits
 */
function visit(node, source, edits) {
  // Types have no behavior. `as`, `satisfies` and `!` contain an expression, which is visited below.
  if (/^TS(?!As|Satisfies|NonNull)/.test(node.type)) return;
  edits.push(...mutateNode(node, source));
  for (const value of Object.values(node)) {
    for (const child of Array.isArray(value) ? value : [value])
      if (typeof child?.type === 'string' && !isFactor(child, node)) visit(child, source, edits);
  }
}

/**
 * Whether a node is a number by which something is multiplied or divided, such as 1,000 to convert seconds. The
 * operator's fault stands for it: nobody is off by one here.
 *
 * @param {Node} node
 * @param {Node} parent
 */
const isFactor = (node, parent) =>
  node.type === 'Literal' &&
  parent.type === 'BinaryExpression' &&
  /^[*/]$/.test(parent['operator']);

/**
 * @param {Node} node
 * @param {string} source
 * @returns {Edit[]}
 */
function mutateNode(node, source) {
  const replace = (/** @type {Node} */ target, /** @type {string} */ replacement) => ({
    start: target.start,
    end: target.end,
    replacement,
    kind: /** @type {const} */ ('code'),
  });
  switch (node.type) {
    case 'BinaryExpression':
    case 'LogicalExpression': {
      const operator =
        node['operator'] in binaryOperators
          ? binaryOperators[node['operator']]
          : logicalOperators[node['operator']];
      if (operator === undefined) return [];
      const { left, right } = node;
      const between = source.slice(left.end, right.start);
      const start = left.end + between.lastIndexOf(node['operator']);
      return [{ start, end: start + node['operator'].length, replacement: operator, kind: 'code' }];
    }
    case 'IfStatement':
    case 'ConditionalExpression':
      return [replace(node['test'], 'true'), replace(node['test'], 'false')];
    case 'UnaryExpression':
      return node['operator'] === '!'
        ? [replace(node, source.slice(node['argument'].start, node.end))]
        : [];
    case 'ExpressionStatement':
      return /^(Call|Await)Expression$/.test(node['expression'].type) ? [replace(node, ';')] : [];
    case 'Literal':
      if (typeof node['value'] === 'boolean') return [replace(node, String(!node['value']))];
      if (typeof node['value'] === 'number' && node['value'] > 1)
        return [replace(node, String(node['value'] + 1))];
      return typeof node['value'] === 'string' ? mutateText(node, source) : [];
    case 'TemplateLiteral':
      return mutateText(node, source);
    default:
      return [];
  }
}

/**
 * @param {Node} node a string or template literal
 * @param {string} source
 * @returns {Edit[]}
 */
function mutateText(node, source) {
  const text = source.slice(node.start + 1, node.end - 1);
  if (!looksLikeSql(text)) return [];
  return mutateSql(text).map(({ start, end, replacement }) => ({
    start: node.start + 1 + start,
    end: node.start + 1 + end,
    replacement,
    kind: 'sql',
  }));
}
