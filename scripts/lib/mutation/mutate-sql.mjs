/** @typedef {{ start: number, end: number, replacement: string }} TextEdit */
/** @typedef {{ text: string, start: number, end: number, depth: number }} Token */

/** @param {string} text */
export const looksLikeSql = (text) =>
  /\b(SELECT|UPDATE|DELETE FROM|INSERT INTO|WHERE|ORDER BY|ON CONFLICT)\b/.test(text) &&
  !/\bCREATE (TABLE|INDEX|VIEW|FUNCTION|TRIGGER)\b/.test(text);

/** Quoted text, `${…}`, an operator, a word or a single character. */
const tokenPattern =
  /'(?:[^']|'')*'|\$\{(?:[^{}]|\{[^{}]*\})*\}|<>|<=|>=|::|->>?|[A-Za-z_][\w.]*|\$\d+|\S/g;

/** Words that end a condition or an ORDER BY list at the same depth. */
const clauseEnds = new Set(
  'ORDER GROUP LIMIT OFFSET RETURNING HAVING UNION ON FOR WHERE SET FROM THEN WHEN ELSE END LEFT JOIN'.split(
    ' ',
  ),
);
/** @type {Record<string, string>} */
const comparisons = { '<': '<=', '<=': '<', '>': '>=', '>=': '>', '<>': '=' };

/**
 * Returns the faults for a statement or a part of one: each term of a condition ignored, AND and OR exchanged,
 * comparisons shifted or inverted, limits raised, and ORDER BY, LIMIT, FOR UPDATE and ON CONFLICT dropped.
 *
 * @param {string} text
 * @returns {TextEdit[]}
 */
export function mutateSql(text) {
  const tokens = tokenize(text);
  return tokens.flatMap((token, index) => mutateToken(text, tokens, token, index));
}

/**
 * @param {string} text
 * @returns {Token[]}
 */
function tokenize(text) {
  let depth = 0;
  return [...text.matchAll(tokenPattern)].map(({ 0: token, index }) => {
    if (token === ')') depth -= 1;
    const result = { text: token, start: index, end: index + token.length, depth };
    if (token === '(') depth += 1;
    return result;
  });
}

/**
 * @param {string} text
 * @param {readonly Token[]} tokens
 * @param {Token} token
 * @param {number} index
 * @returns {TextEdit[]}
 */
function mutateToken(text, tokens, token, index) {
  const next = tokens[index + 1];
  const drop = (/** @type {number} */ end, replacement = '') => ({
    start: token.start,
    end,
    replacement,
  });
  // The term stays in the statement: if its parameters were missing, the database would refuse all of them.
  const ignoreTerm = () => {
    const end = endOfTerm(tokens, index + 1, token.depth);
    if (!next || end <= token.end) return [];
    return [drop(end, `${token.text} (${text.slice(next.start, end)} OR true)`)];
  };
  switch (token.text) {
    case 'WHERE':
      return ignoreTerm();
    case 'AND':
      return closesBetween(tokens, index) ? [] : [drop(token.end, 'OR'), ...ignoreTerm()];
    case 'OR':
      return [drop(token.end, 'AND')];
    case 'IS':
      return next?.text === 'NULL' ? [drop(next.end, 'IS NOT NULL')] : [];
    case 'DESC':
      return [drop(token.end)];
    case 'ORDER':
      return [drop(endOfClause(tokens, index + 1, token.depth))];
    case 'LIMIT':
    case 'OFFSET': {
      const end = endOfClause(tokens, index + 1, token.depth);
      const clause = text.slice(token.start, end);
      return [drop(end, clause.includes('$') ? `${clause} + 1000000` : '')];
    }
    case 'FOR':
      return next?.text === 'UPDATE' ? [drop(endOfClause(tokens, index + 1, token.depth))] : [];
    case 'ON':
      return next?.text === 'CONFLICT' ? [drop(endOfConflict(text, tokens, index))] : [];
    default: {
      const other = comparisons[token.text];
      return other === undefined || next === undefined ? [] : [drop(token.end, other)];
    }
  }
}

/**
 * Returns the end of a condition's term, which begins at token `from`.
 *
 * @param {readonly Token[]} tokens
 * @param {number} from
 * @param {number} depth
 */
function endOfTerm(tokens, from, depth) {
  let isBetween = false;
  let end = tokens[from - 1]?.end ?? 0;
  for (const token of tokens.slice(from)) {
    if (token.depth < depth) break;
    if (token.depth === depth) {
      if (token.text === 'OR' || clauseEnds.has(token.text) || token.text === ',') break;
      if (token.text === 'AND' && !isBetween) break;
      if (token.text === 'AND') isBetween = false;
      if (token.text === 'BETWEEN') isBetween = true;
    }
    end = token.end;
  }
  return end;
}

/**
 * @param {readonly Token[]} tokens
 * @param {number} from
 * @param {number} depth
 */
function endOfClause(tokens, from, depth) {
  let end = tokens[from - 1]?.end ?? 0;
  for (const token of tokens.slice(from)) {
    if (token.depth < depth || (token.depth === depth && clauseEnds.has(token.text))) break;
    end = token.end;
  }
  return end;
}

/**
 * Whether the AND at `index` belongs to a BETWEEN.
 *
 * @param {readonly Token[]} tokens
 * @param {number} index
 */
function closesBetween(tokens, index) {
  const depth = tokens[index]?.depth;
  for (let at = index - 1; at >= 0; at -= 1) {
    const token = tokens[at];
    if (!token || token.depth < (depth ?? 0)) return false;
    if (token.depth !== depth) continue;
    if (token.text === 'BETWEEN') return true;
    if (/^(AND|OR|WHERE|ON)$/.test(token.text)) return false;
  }
  return false;
}

/**
 * Returns the end of `ON CONFLICT … DO …`.
 *
 * @param {string} text
 * @param {readonly Token[]} tokens
 * @param {number} index
 */
function endOfConflict(text, tokens, index) {
  const depth = tokens[index]?.depth ?? 0;
  const rest = tokens.slice(index);
  const nothing = rest.find((token) => token.text === 'NOTHING');
  const returning = rest.find((token) => token.text === 'RETURNING' || token.depth < depth);
  if (nothing && (!returning || nothing.start < returning.start)) return nothing.end;
  return returning?.start ?? text.trimEnd().length;
}
