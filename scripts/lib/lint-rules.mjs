/**
 * This repository's own lint rules, as an oxlint plugin: no published rule covers the quirks of Cocos Creator's
 * compiler, what a page can do to the SDK, or where the service may read the time.
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

const clockMessage =
  'The service has one clock, which follows the database’s: pass a `Clock` in, and pass its time to SQL as a parameter (docs/clocks.md).';

/** PostgreSQL's own clocks. `now()` in a template's expression is a function of ours. */
const sqlClock =
  /\b(?:(?:now|clock_timestamp|statement_timestamp|transaction_timestamp|timeofday)\s*\(\s*\)|current_(?:timestamp|date|time)\b|localtime(?:stamp)?\b)|'(?:now|today|tomorrow|yesterday)'::?/i;
/** The machine's clocks. */
const clockCalls = new Set(['Date.now', 'performance.now', 'process.hrtime', 'process.uptime']);

/**
 * Rejects reading the machine's clock or the database's clock.
 *
 * @type {{ create(context: { report(problem: object): void }): object }}
 */
const oneClock = {
  create: (context) => {
    /** @param {any} node */
    const report = (node) => context.report({ message: clockMessage, node });
    return {
      /** @param {any} call */
      CallExpression({ callee }) {
        if (callee.type === 'Identifier' && callee.name === 'Date') report(callee);
      },
      /** @param {any} member */
      MemberExpression(member) {
        const name = member.property.name ?? member.property.value;
        if (clockCalls.has(`${member.object.name}.${name}`)) report(member);
      },
      /** @param {any} created */
      NewExpression(created) {
        if (created.callee.name === 'Date' && created.arguments.length === 0) report(created);
      },
      /** @param {any} specifier */
      ImportSpecifier(specifier) {
        if (specifier.imported.name === 'systemClock') report(specifier);
      },
      /** @param {any} literal */
      Literal(literal) {
        if (typeof literal.value === 'string' && sqlClock.test(literal.value)) report(literal);
      },
      /** @param {any} element */
      TemplateElement(element) {
        if (sqlClock.test(element.value.raw)) report(element);
      },
    };
  },
};

const helpers = {
  flush:
    'Windows refuses to flush a file that was opened for reading, and folders at all: use platform/durable-files.ts.',
  rename:
    'On Windows, replacing a file fails while a virus scanner has it open: use platform/durable-files.ts or scripts/lib/replace-file.mjs.',
  copy: 'On Windows, Node copies nothing, or ends, if a path has an accent: use scripts/lib/copy-folder.mjs.',
  signal:
    'On Windows, no signal asks a process to stop: use platform/stop-requests.ts or scripts/lib/start-process.mjs.',
  program:
    'Programs differ between systems: use platform/process-identity.ts, or `run` of scripts/lib/run.mjs.',
  shell:
    'Shells differ between systems, and split paths at spaces: run the program itself, with an array of arguments.',
  path: 'The path of a file URL isn’t a path on Windows, and is percent-encoded: use `fileURLToPath` or `import.meta.dirname`.',
};

/** Functions of `node:fs` that behave differently on Windows. */
const fileFunctions = new Map([
  ['cp', 'copy'],
  ['cpSync', 'copy'],
  ['fsync', 'flush'],
  ['fsyncSync', 'flush'],
  ['fdatasync', 'flush'],
  ['fdatasyncSync', 'flush'],
  ['rename', 'rename'],
  ['renameSync', 'rename'],
]);
const stopSignal = /^SIG(TERM|INT|HUP|BREAK|KILL)$/;

/** Rejects what works differently on Windows and has a helper. */
const portable = {
  /** @param {{ report(problem: object): void }} context */
  create: (context) => {
    /** @type {(kind: string, node: any) => void} */
    const report = (kind, node) =>
      context.report({ message: helpers[/** @type {'flush'} */ (kind)], node });
    return {
      /** @param {any} declaration */
      ImportDeclaration({ source, specifiers }) {
        if (source.value === 'node:child_process') report('program', source);
        if (!/^node:fs(\/promises)?$/.test(source.value)) return;
        for (const specifier of specifiers) {
          const kind = fileFunctions.get(specifier.imported?.name);
          if (kind !== undefined) report(kind, specifier);
        }
      },
      /** @param {any} call */
      CallExpression({ callee, arguments: args }) {
        if (args.length > 0) return;
        if (/^(data)?sync$/.test(callee.property?.name ?? '')) report('flush', callee);
      },
      /** @param {any} property */
      Property({ key, value }) {
        const name = key.name ?? key.value;
        if (name === 'flush' && value.value === true) report('flush', key);
        if (name === 'shell' && typeof value.value !== 'string') report('shell', key);
      },
      /** @param {any} literal */
      Literal(literal) {
        if (stopSignal.test(literal.value)) report('signal', literal);
      },
      /** @param {any} member */
      MemberExpression({ object, property }) {
        if (property.name !== 'pathname' || object.type !== 'NewExpression') return;
        const [, base] = object.arguments;
        if (base?.type === 'MemberExpression' && base.object.type === 'MetaProperty')
          report('path', property);
      },
    };
  },
};

const pageMessages = {
  listener:
    'A page may have replaced `addEventListener()`, and added properties to every object: use `listen()` (src/platform/native.ts).',
  in: 'A page may have added properties to every object: use `has()` (src/platform/guard.ts) or `Object.hasOwn()`.',
};

/**
 * Rejects what a page can change by changing the prototypes that all objects share.
 *
 * @type {{ create(context: { report(problem: object): void }): object }}
 */
const ownProperties = {
  create: (context) => ({
    /** @param {any} expression */
    BinaryExpression({ operator, right }) {
      if (operator === 'in') context.report({ message: pageMessages.in, node: right });
    },
    /** @param {any} call */
    CallExpression({ callee }) {
      if (/^(?:add|remove)EventListener$/.test(callee.property?.name ?? ''))
        context.report({ message: pageMessages.listener, node: callee.property });
    },
  }),
};

export default {
  meta: { name: 'trueward' },
  rules: {
    'no-iterable-spread': noIterableSpread,
    'one-clock': oneClock,
    'own-properties': ownProperties,
    portable,
  },
};
