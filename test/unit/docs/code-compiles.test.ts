import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { type CodeBlock, readCodeBlocks, root } from './code-blocks.ts';

const pages = [
  'README.md',
  ...readdirSync(join(root, 'docs'))
    .filter((name) => name.endsWith('.md'))
    .map((name) => `docs/${name}`),
];
// Blocks marked `tested` are excerpts from files that other tests compile and run. An e2e test builds and runs the
// quick start's page and script.
const blocks = pages
  .flatMap(readCodeBlocks)
  .filter(({ mark }) => mark !== 'tested')
  .flatMap((block) =>
    block.language === 'html' && !/quick-start/.test(block.page)
      ? extractInlineScripts(block)
      : [block],
  )
  // Blocks marked `typed` are JavaScript that also compiles as TypeScript.
  .filter(({ language, mark }) => language === 'ts' || mark === 'typed')
  .reduce<CodeBlock[]>((joined, block) => {
    const last = joined.at(-1);
    if (block.mark !== 'continues' || !last) return [...joined, block];
    return [...joined.slice(0, -1), { ...last, code: `${last.code}\n${block.code}` }];
  }, []);

/** Extracts the inline scripts from an HTML block. */
function extractInlineScripts(block: CodeBlock): CodeBlock[] {
  return [...block.code.matchAll(/<script>\n(.*?)<\/script>/gs)].map((match) => ({
    ...block,
    line: block.line + 1 + block.code.slice(0, match.index).split('\n').length - 1,
    language: 'ts',
    code: match[1] ?? '',
  }));
}
const toFileName = ({ page, line }: CodeBlock): string =>
  `${page.replaceAll(/\W/g, '-')}-${line}.ts`;

// The folder is inside the project, so that imports resolve to the packages installed there.
const parent = join(root, 'node_modules', '.cache');
mkdirSync(parent, { recursive: true });
const folder = mkdtempSync(join(parent, 'trueward-guides-'));
afterAll(() => rmSync(folder, { recursive: true }));

test('the code in the guides compiles in a reader’s project', () => {
  expect(blocks.length).toBeGreaterThan(15);
  const names = new Map(blocks.map((block) => [toFileName(block), block]));
  for (const [name, { code }] of names) writeFileSync(join(folder, name), `${code}\nexport {};\n`);
  writeFileSync(
    join(folder, 'tsconfig.json'),
    JSON.stringify({
      extends: '../../../scripts/tsconfig.base.json',
      compilerOptions: {
        composite: false,
        emitDeclarationOnly: false,
        noEmit: true,
        types: ['node', '@cocos/creator-types/engine'],
        lib: ['ES2023', 'DOM', 'DOM.Iterable'],
        experimentalDecorators: true,
        // Turns off compiler options that a reader's project may not use.
        noImplicitOverride: false,
        exactOptionalPropertyTypes: false,
      },
      files: [...names.keys(), '../../../test/unit/docs/names-in-guides.ts'],
    }),
  );
  const tsc = join(root, 'node_modules', 'typescript', 'bin', 'tsc');
  const { stdout } = spawnSync(process.execPath, [tsc, '-p', folder, '--pretty', 'false'], {
    encoding: 'utf8',
    cwd: folder,
  });
  const errors = stdout
    .split('\n')
    .filter((line) => line.includes('error TS'))
    .map((line) => {
      const [, name = '', at = '0'] = /^(?:.*\/)?([\w-]+\.ts)\((\d+)/.exec(line) ?? [];
      const block = names.get(name);
      return block ? `${block.page}:${block.line + Number(at) - 1} ${line}` : line;
    });
  expect(errors).toEqual([]);
});
