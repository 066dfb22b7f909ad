/**
 * An accepted mutant: no input can reveal it, for the given reason.
 *
 * @typedef {{ file: string, line?: string, original: string, replacement: string, reason: string }} Equivalent
 */

/**
 * Whitespace in `original` and `replacement` is collapsed. `line` is a part of the mutated line; without it, the fault is
 * accepted in the whole file. Describe why no input can reveal the fault, not why it seems harmless.
 *
 * @type {readonly Equivalent[]}
 */
const equivalents = [
  {
    file: 'service/src/access/links.ts',
    original: 'LIMIT 1',
    replacement: '',
    reason: 'The statement only shows whether there are users; more rows say the same.',
  },
  ...[
    'demand/intake/external-creative.ts',
    'history/delete-old-rows.ts',
    'resource/check-document.ts',
    'webhook/probe.ts',
    'access/secret-box.ts',
    'inspect/explain-decision.ts',
  ].map((file) => ({
    file: `service/src/${file}`,
    original: 'LIMIT 1',
    replacement: '',
    reason: 'Only the first row is used.',
  })),
  ...[
    'reward/read-decisions.ts',
    'reward/reward-changes.ts',
    'demand/trackers.ts',
    'demand/tracker/request-store.ts',
  ].map((file) => ({
    file: `service/src/${file}`,
    original: 'OFFSET 0',
    replacement: '',
    reason: 'It skips no row; it only keeps the planner from merging the queries.',
  })),
  ...[
    ['decision/caps.ts', 'id >= $4 GROUP BY', '>='],
    ['decision/player-record.ts', 'id >= $6', '>='],
    ['history/delete-old-rows.ts', 'AND id < $2', '<'],
    ['history/erase-player.ts', 'AND id < $4', '<'],
    ['history/integration-health.ts', 'id >= $3 ORDER BY id', '>='],
    ['history/integration-health.ts', 'id < $4 LIMIT', '<'],
    ['inspect/explain-decision.ts', 'AND id < $3', '<'],
    ['inspect/inspect-decision.ts', 'e.id >= w.first', '>='],
    ['inspect/inspect-decision.ts', 'e.id < w.last', '<'],
    ['inspect/list-decisions.ts', 'id >= $5', '>='],
    ['reward/read-decisions.ts', 'id >= $5', '>='],
    ['reward/read-decisions.ts', 'id >= $6', '>='],
    ['store/audit-log.ts', 'id >= $4', '>='],
    ['store/audit-log.ts', 'id < $5', '<'],
    ['webhook/probe.ts', 'deliveries.id < $3', '<'],
    ['webhook/recovery.ts', 'f.id >= $6', '>='],
  ].map(([file, line, original]) => ({
    file: `service/src/${file}`,
    line: `${line}`,
    original: `${original}`,
    replacement: original === '<' ? '<=' : '>',
    reason:
      'The bound has the form of an id, but no id is equal to it: ids contain a version number.',
  })),
  ...['store/copy-rows.ts', 'webhook/delivery-store.ts'].map((file) => ({
    file: `service/src/${file}`,
    line: 'SET lease_until = NULL WHERE lease_until IS NOT NULL',
    original: 'WHERE lease_until IS NOT NULL',
    replacement: 'WHERE (lease_until IS NOT NULL OR true)',
    reason: 'A lease that is NULL stays NULL.',
  })),
  {
    file: 'service/src/demand/intake/check-origins.ts',
    original: "AND kind = 'creative'",
    replacement: "AND (kind = 'creative' OR true)",
    reason: 'Only a creative has the id of a creative.',
  },
  {
    file: 'service/src/webhook/recovery.ts',
    original: 'AND f.id >= $6',
    replacement: 'AND (f.id >= $6 OR true)',
    reason: 'No delivery is older than its event; the bound only leaves out old partitions.',
  },
  {
    file: 'service/src/access/links.ts',
    line: 'DELETE FROM user_links WHERE expires_at <',
    original: '<',
    replacement: '<=',
    reason: 'A link can no longer be used at the time at which it expires.',
  },
  {
    file: 'service/src/history/integration-health.ts',
    line: 'simulate IS NULL ORDER BY id DESC',
    original: 'ORDER BY id DESC',
    replacement: '',
    reason: 'The rows come from a materialized list that has this order.',
  },
  {
    file: 'service/src/history/rollup.ts',
    original: "AND environment IN ('sandbox', 'live')",
    replacement: "AND (environment IN ('sandbox', 'live') OR true)",
    reason: 'There are no other environments; it only lets the planner use an index.',
  },
  {
    file: 'service/src/access/secret-box.ts',
    original: 'LIMIT ${pageSize}',
    replacement: 'LIMIT ${pageSize} + 1000000',
    reason: 'All rows are then one page.',
  },
  {
    file: 'service/src/media/unused-uploads.ts',
    line: 'SET unused_since = CASE WHEN',
    original: 'IS NULL',
    replacement: 'IS NOT NULL',
    reason:
      'A used file is then noted as unused in each run, so its time begins when it is last used.',
  },
  {
    file: 'service/src/inspect/list-decisions.ts',
    line: 'LEFT JOIN page ON true',
    original: 'ORDER BY page.id DESC',
    replacement: '',
    reason: 'The rows come from a list that has this order.',
  },
  ...[
    ['AND', 'OR'],
    ...[
      'kind IN (SELECT jsonb_array_elements_text($3::text::jsonb))',
      "document->>'name' IN (SELECT jsonb_array_elements_text($4::text::jsonb))",
    ].map((term) => [`AND ${term}`, `AND (${term} OR true)`]),
  ].map(([original, replacement]) => ({
    file: 'service/src/resource/check-document.ts',
    line: 'jsonb_array_elements_text',
    original: `${original}`,
    replacement: `${replacement}`,
    reason: 'The caller looks for each reference among the rows by kind and name.',
  })),
  {
    file: 'service/src/decision/load-configuration.ts',
    original: 'ORDER BY id',
    replacement: '',
    reason: 'The snapshot sorts whatever has an order.',
  },
  {
    file: 'service/src/http/monitoring/demand-metrics.ts',
    original: '<',
    replacement: '<=',
    reason: 'A request that is due right now has been overdue for 0 s, as if there were none.',
  },
  {
    file: 'src/decision/ad-rules.ts',
    line: 'limits.rules.length === 0',
    original: '||',
    replacement: '&&',
    reason: 'Without rules, or for an unknown format, going on finds no wait either.',
  },
  {
    file: 'service/src/inspect/inspect-decision.ts',
    line: 'e.id >= w.first AND e.id < w.last',
    original: 'AND',
    replacement: 'OR',
    reason: 'It only bounds what is read; what belongs to other decisions is left out afterward.',
  },
  {
    file: 'service/src/access/secret-box.ts',
    line: "error.code === 'EEXIST'",
    original: "!(error instanceof Error && 'code' in error && error.code === 'EEXIST')",
    replacement: 'false',
    reason: 'A file that can’t be created can’t be read either, which the caller does next.',
  },
  {
    file: 'service/src/history/delete-old-rows.ts',
    line: 'used_at < $2',
    original: '<',
    replacement: '<=',
    reason: 'The statement has the condition twice, because of rows that change meanwhile.',
  },
  {
    file: 'service/src/decision/external-ads.ts',
    line: 'if (!offer) continue;',
    original: '!offer',
    replacement: 'false',
    reason: 'An answer without an offer is no bid; only its type says that it may have none.',
  },
  {
    file: 'service/src/http/routes/events.ts',
    line: 'malformed: true',
    original: 'true',
    replacement: 'false',
    reason: 'Whether an event has this member is what counts.',
  },
  {
    file: 'service/src/decision/caps.ts',
    original: "AND metric IN ('impressions', 'filled')",
    replacement: "AND (metric IN ('impressions', 'filled') OR true)",
    reason: 'Other metrics are not counted in what the statement returns.',
  },
  {
    file: 'service/src/history/delete-old-rows.ts',
    line: 'viewer > $3',
    original: '>',
    replacement: '>=',
    reason: 'The last player of the rows before was deleted, or is too recent.',
  },
  {
    file: 'service/src/history/report.ts',
    original: 'ORDER BY metric, metric_reason',
    replacement: '',
    reason: 'It orders what becomes the members of an object.',
  },
  {
    file: 'service/src/reward/expire-rewards.ts',
    original: 'ORDER BY account_id, id',
    replacement: '',
    reason:
      'All that is due is expired before the function returns; the order only keeps to an index.',
  },
  {
    file: 'src/portal/hold-game.ts',
    line: 'passive: true',
    original: 'true',
    replacement: 'false',
    reason:
      'The listener never prevents the default; the option only tells the browser so in advance.',
  },
  {
    file: 'service/src/reward/request-trackers.ts',
    line: "type === 'source_callback'",
    original: "type === 'source_callback'",
    replacement: 'false',
    reason: 'No tracker is due for this type; the condition is for the type checker.',
  },
  {
    file: 'src/player-context.ts',
    line: "typeof userToken === 'string' ? userToken",
    original: "typeof userToken === 'string'",
    replacement: 'true',
    reason: 'Anything else has no claims that can be read.',
  },
  {
    file: 'service/src/demand/intake/check-origins.ts',
    line: 'if (signal.aborted) return false;',
    original: 'false',
    replacement: 'true',
    reason: 'Nobody reads the result of a check in a process that is shutting down.',
  },
  {
    file: 'service/src/wallet/spend.ts',
    line: 'hasDeliveries: false',
    original: 'false',
    replacement: 'true',
    reason: 'A batch is never empty; the condition is for the type checker.',
  },
  ...[
    { file: 'access/secret-box.ts', line: 'pageSize = 500', replacement: '501' },
    { file: 'history/delete-old-rows.ts', line: 'rowsPerStatement = 1_000', replacement: '1001' },
    { file: 'history/delete-old-rows.ts', line: 'viewersPerScan = 10_000', replacement: '10001' },
    { file: 'history/delete-old-rows.ts', line: 'guestsPerStep = 200', replacement: '201' },
    { file: 'history/delete-records.ts', line: 'rowsPerStep = 200', replacement: '201' },
    { file: 'history/export-player.ts', line: 'rowsPerPage = 100', replacement: '101' },
    { file: 'history/week-rows.ts', line: 'rowsPerChunk = 5_000', replacement: '5001' },
    { file: 'store/copy-rows.ts', line: 'rowsPerStatement = 500', replacement: '501' },
  ].map(({ file, line, replacement }) => ({
    file: `service/src/${file}`,
    line: `const ${line};`,
    original: line.slice(line.indexOf('=') + 2),
    replacement,
    reason:
      'So many rows are handled at once, until there are no more: any number has the same result.',
  })),
];

/** @param {string} text */
const flatten = (text) => text.replaceAll(/\s+/g, ' ').trim();

/** @param {import('./mutate-code.mjs').Mutant} mutant */
export const isEquivalent = ({ file, lineText, original, replacement }) =>
  equivalents.some(
    (accepted) =>
      accepted.file === file &&
      lineText.includes(accepted.line ?? '') &&
      accepted.original === flatten(original) &&
      accepted.replacement === flatten(replacement),
  );
