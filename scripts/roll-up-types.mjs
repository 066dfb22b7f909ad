/**
 * The last step of the SDK's build. API Extractor combines the emitted declarations into one file per entry point in
 * dist/types, and generates the API reports that `npm run api-report` compares. API Extractor drops `declare module`
 * and `declare global` blocks, so this script copies them from the entry points to the end of the combined files.
 */
import { appendFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { CompilerState, Extractor, ExtractorConfig } from '@microsoft/api-extractor';
import { builtReportsDir, committedReportsDir, entryPoints } from './lib/public-api.mjs';
import { root } from './lib/run.mjs';

/** The folder into which `tsc --build` writes the declarations (scripts/tsconfig.base.json). */
const emittedDir = join(root, '.cache', 'types');
const target = join(root, 'dist', 'types');
for (const folder of [target, builtReportsDir]) rmSync(folder, { recursive: true, force: true });
mkdirSync(target, { recursive: true });

const configs = Object.entries(entryPoints).map(([name, source]) => ({
  name,
  config: prepareConfig(name, join(emittedDir, source.replace(/\.ts$/, '.d.ts'))),
}));
const entryFiles = configs.map(({ config }) => config.mainEntryPointFilePath);
const [{ config: anyConfig }] = /** @type {[typeof configs[number]]} */ (configs);
// All entry points share one TypeScript program, which is faster than one program per entry point.
const compilerState = CompilerState.create(anyConfig, { additionalEntryPoints: entryFiles });
for (const { name, config } of configs) {
  const { errorCount } = Extractor.invoke(config, {
    compilerState,
    messageCallback: (message) => {
      // Suppresses API Extractor's version banner and its messages about changed reports. A separate check compares the
      // reports.
      if (message.category === 'console') message.handled = true;
    },
  });
  if (errorCount > 0) process.exitCode = 1;
  addAugmentations(name, readFileSync(config.mainEntryPointFilePath, 'utf8'));
}

// The script tag's types only declare globals, so there is nothing to combine.
const scriptTag = readFileSync(join(emittedDir, 'src', 'script-tag', 'cocos.d.ts'), 'utf8');
const globals = scriptTag.replaceAll("'../cocos/index.ts'", "'./cocos.js'");
writeFileSync(join(target, 'trueward-cocos.d.ts'), globals);
writeFileSync(join(builtReportsDir, 'trueward-cocos.api.md'), codeBlock(globals));

/**
 * @param {string} name
 * @param {string} entry
 */
function prepareConfig(name, entry) {
  /** @type {import('@microsoft/api-extractor').IConfigMessageReportingTable} */
  const silentReporting = { default: { logLevel: /** @type {any} */ ('none') } };
  return ExtractorConfig.prepare({
    configObjectFullPath: undefined,
    packageJsonFullPath: join(root, 'package.json'),
    configObject: {
      projectFolder: root,
      mainEntryPointFilePath: entry,
      newlineKind: 'lf',
      compiler: {
        overrideTsconfig: {
          compilerOptions: {
            target: 'es2022',
            module: 'esnext',
            moduleResolution: 'bundler',
            lib: ['es2023', 'dom', 'dom.iterable'],
            types: [],
            strict: true,
            allowImportingTsExtensions: true,
            skipLibCheck: true,
            noEmit: true,
          },
          files: [entry],
        },
      },
      apiReport: {
        enabled: true,
        includeForgottenExports: true,
        reportFileName: `${name}.api.md`,
        reportFolder: committedReportsDir,
        reportTempFolder: builtReportsDir,
      },
      dtsRollup: { enabled: true, publicTrimmedFilePath: join(target, `${name}.d.ts`) },
      docModel: { enabled: false },
      tsdocMetadata: { enabled: false },
      messages: {
        compilerMessageReporting: { default: { logLevel: /** @type {any} */ ('error') } },
        // Silent, because TypeDoc checks the comments and their links.
        extractorMessageReporting: silentReporting,
        tsdocMessageReporting: silentReporting,
      },
    },
  });
}

/**
 * @param {string} name
 * @param {string} declarations
 */
function addAugmentations(name, declarations) {
  for (const [augmentation] of declarations.matchAll(
    /^declare (?:global|module '[^']+') \{\n.*?^\}\n/gms,
  )) {
    appendFileSync(join(target, `${name}.d.ts`), `\n${augmentation}`);
    appendFileSync(join(builtReportsDir, `${name}.api.md`), `\n${codeBlock(augmentation)}`);
  }
}

/** @param {string} code */
function codeBlock(code) {
  return `\`\`\`ts\n${code}\`\`\`\n`;
}
