import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { parseSync } from 'vite';

/**
 * @typedef {import('vite').ESTree.Node} Node
 * @typedef {{ text: string, declares: string[], exports: Map<string, string>, names: Set<string>, always: boolean }} Statement
 *   `exports`: local names by exported ones. `names`: every name that its text says.
 * @typedef {{ file: string, imported: string, text: string }} Import
 * @typedef {{ statements: Statement[], imports: Map<string, Import>, reExports: Map<string, Import> }} Module
 */

/**
 * Leaves of type declarations only what can be seen from the entry points, so that neither a package
 * nor a report of its public face holds what is internal. Gives the texts by their files.
 *
 * @param {readonly string[]} entries
 * @returns {Map<string, string>}
 */
export function shakeTypes(entries) {
  /** @type {Map<string, Module>} */
  const modules = new Map();
  const open = (/** @type {string} */ file) => {
    const module = modules.get(file) ?? readModule(file);
    modules.set(file, module);
    return module;
  };
  /** @type {Set<Statement>} */
  const kept = new Set();
  /** @type {Map<string, Set<string>>} */
  const imports = new Map();

  const keep = (/** @type {string} */ file, /** @type {Statement} */ statement) => {
    if (kept.has(statement)) return;
    kept.add(statement);
    for (const name of statement.names) useLocal(file, name);
  };
  const useLocal = (/** @type {string} */ file, /** @type {string} */ name) => {
    const module = open(file);
    for (const statement of module.statements)
      if (statement.declares.includes(name)) keep(file, statement);
    const from = module.imports.get(name);
    if (from !== undefined) follow(file, from);
  };
  const follow = (
    /** @type {string} */ file,
    /** @type {Import} */ { file: target, imported, text },
  ) => {
    const texts = imports.get(file) ?? new Set();
    imports.set(file, texts.add(text));
    if (target !== '') useExport(target, imported);
  };
  const useExport = (/** @type {string} */ file, /** @type {string} */ name) => {
    const { reExports, statements } = open(file);
    const from = reExports.get(name);
    if (from !== undefined) return follow(file, from);
    for (const statement of statements) {
      if (statement.always) keep(file, statement);
      const local = statement.exports.get(name);
      if (local === undefined) continue;
      keep(file, statement);
      useLocal(file, local);
    }
  };

  for (const entry of entries) {
    const { reExports, statements } = open(entry);
    const names = [
      ...reExports.keys(),
      ...statements.flatMap(({ exports }) => [...exports.keys()]),
    ];
    for (const name of names) useExport(entry, name);
    for (const statement of statements) if (statement.always) keep(entry, statement);
  }
  return new Map(
    [...modules].flatMap(([file, { statements }]) => {
      const texts = statements.filter((statement) => kept.has(statement)).map(({ text }) => text);
      const all = [...(imports.get(file) ?? []), ...texts];
      return all.length === 0 ? [] : [[file, `${all.join('\n')}\nexport {};\n`]];
    }),
  );
}

/**
 * @param {string} file
 * @returns {Module}
 */
function readModule(file) {
  const source = readFileSync(file, 'utf8');
  const { errors, program } = parseSync(file, source);
  if (errors.length > 0) throw new Error(`${file}: ${errors[0]?.message}`);
  /** @type {Module} */
  const module = { statements: [], imports: new Map(), reExports: new Map() };
  let end = 0;
  for (const node of program.body) {
    // With the comment before it.
    const text = source.slice(end, node.end).trim();
    end = node.end;
    if (node.type === 'ImportDeclaration') readImports(module, file, node);
    else if (node.type === 'ExportNamedDeclaration' && node.source)
      readReExports(module, file, node);
    else module.statements.push(readStatement(node, text));
  }
  return module;
}

const nameOf = (/** @type {any} */ { name, value }) => String(name ?? value);

/**
 * Where an import leads: declarations name the sources, `.ts`, from which they were made.
 *
 * @param {string} file
 * @param {string} specifier
 */
function resolveImport(file, specifier) {
  if (!specifier.startsWith('.')) return { target: '', from: specifier };
  const from = specifier.replace(/\.ts$/, '.js');
  return { target: join(dirname(file), from.replace(/\.js$/, '.d.ts')), from };
}

/**
 * @param {Module} module
 * @param {string} file
 * @param {import('vite').ESTree.ImportDeclaration} node
 */
function readImports({ imports }, file, { importKind, source, specifiers }) {
  const { from, target } = resolveImport(file, source.value);
  for (const specifier of specifiers) {
    const local = specifier.local.name;
    const isType =
      importKind === 'type' || ('importKind' in specifier && specifier.importKind === 'type');
    const imported = specifier.type === 'ImportSpecifier' ? nameOf(specifier.imported) : '*';
    const what =
      imported === '*'
        ? `* as ${local}`
        : `{ ${imported === local ? local : `${imported} as ${local}`} }`;
    const text = `import ${isType ? 'type ' : ''}${what} from '${from}';`;
    imports.set(local, { file: target, imported, text });
  }
}

/**
 * @param {Module} module
 * @param {string} file
 * @param {import('vite').ESTree.ExportNamedDeclaration} node
 */
function readReExports({ reExports }, file, { exportKind, source, specifiers }) {
  const { from, target } = resolveImport(file, source?.value ?? '');
  for (const specifier of specifiers) {
    const [imported, exported] = [nameOf(specifier.local), nameOf(specifier.exported)];
    const isType = exportKind === 'type' || specifier.exportKind === 'type';
    const names = imported === exported ? imported : `${imported} as ${exported}`;
    const text = `export ${isType ? 'type ' : ''}{ ${names} } from '${from}';`;
    reExports.set(exported, { file: target, imported, text });
  }
}

/**
 * @param {Node} node
 * @param {string} text
 * @returns {Statement}
 */
function readStatement(node, text) {
  /** @type {Map<string, string>} */
  const exported = new Map();
  const isExport = node.type === 'ExportNamedDeclaration';
  const declaration = isExport ? (node.declaration ?? node) : node;
  const declares = declaredNames(declaration);
  if (isExport) {
    for (const name of declares) exported.set(name, name);
    for (const { exported: name, local } of node.specifiers)
      exported.set(nameOf(name), nameOf(local));
  }
  // It changes what another module or the page declares, whoever sees it.
  const always = declaration.type === 'TSModuleDeclaration' && declares.length === 0;
  const names = new Set(namesIn(declaration));
  return { text: text.replace(/^export \{\};$/, ''), declares, exports: exported, names, always };
}

/**
 * @param {any} declaration
 * @returns {string[]}
 */
function declaredNames({ id, declarations, type, global }) {
  if (declarations) return declarations.map((/** @type {any} */ { id: name }) => name.name);
  const isAmbient = type === 'TSModuleDeclaration' && (global || id.type === 'Literal');
  return isAmbient || id?.type !== 'Identifier' || id.name === 'global' ? [] : [id.name];
}

/**
 * @param {any} node
 * @returns {Generator<string>}
 */
function* namesIn(node) {
  if (node.type === 'Identifier') yield node.name;
  for (const [key, child] of Object.entries(node)) {
    // What a property is called says nothing of a type.
    if (key === 'key' && !node.computed) continue;
    for (const value of Array.isArray(child) ? child : [child])
      if (value && typeof value === 'object' && 'type' in value) yield* namesIn(value);
  }
}
