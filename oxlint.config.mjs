/** The lint rules. Those that restrict imports between parts (see ARCHITECTURE.md) are generated from tables. */
const parts = ['decision', 'outbox', 'reward', 'creative', 'engine', 'wallet'];
const engines = ['phaser', 'cocos', 'pixi', 'babylon', 'web-export'];
const entryPoints = ['index', ...engines, 'script-tag', 'ad-placement', 'server'];
const composition = ['ads', 'create-ads', ...entryPoints];
/** Forbids imports whose path matches. */
const forbid = (regex, message) => ({ regex, message });
/** Like {@link forbid}, but allows `import type`. */
const allowOnlyTypes = (regex, message) => ({ regex, message, allowTypeImports: true });
/** Matches imports of these folders and files from a sibling folder or a folder below it. */
const matchAbove = (names) => `^(\\.\\./)+(${names.join('|')})(/|\\.ts$)`;
/** Matches imports of these folders and files from a file next to them. */
const matchBeside = (names) => `^\\./(${names.join('|')})(/|\\.ts$)`;

const wireTypesOnly = allowOnlyTypes(
  '(^|/)protocol/|^@trueward/',
  'The SDK may import only types from the wire contract: use `import type`.',
);
const noDependents = forbid(
  '^(\\.\\./)+(service|demo|test|scripts)/',
  'The SDK must not import code that depends on it.',
);
const noNode = forbid('^node:', 'The SDK runs in browsers, which have no Node modules.');
const noEngine = forbid('^(phaser|phaser/.*|cc)$', 'Only engine adapters may import an engine.');
const anywhereInSdk = [wireTypesOnly, noDependents, noNode, noEngine];

const sdk = {
  'src/*.ts': [
    forbid(
      matchBeside(entryPoints.slice(1)),
      'Entry points import the core, not the other way around.',
    ),
  ],
  'src/outcome.ts': [
    forbid('^\\./', 'outcome.ts is the lowest layer: it imports nothing from the SDK.'),
  ],
  'src/options.ts': [
    allowOnlyTypes(
      matchBeside([...parts, 'transport', 'ad-break', ...composition]),
      'options.ts may import platform/ and outcome.ts, and only types from the rest.',
    ),
  ],
  'src/platform/**': [
    forbid('^\\.\\./', 'platform/ is the lowest layer: it imports nothing from the SDK.'),
  ],
  'src/transport/**': [
    forbid(
      matchAbove([...parts, 'ad-break', ...composition]),
      'transport/ may import only platform/, outcome.ts and options.ts.',
    ),
  ],
  ...Object.fromEntries(
    parts.map((part) => [
      `src/${part}/**`,
      [
        forbid(
          matchAbove(['ad-break', ...composition]),
          `${part}/ is a lower layer; create-ads.ts wires the parts together.`,
        ),
        allowOnlyTypes(
          matchAbove(parts.filter((other) => other !== part)),
          'Siblings may import only types from each other: use `import type`.',
        ),
      ],
    ]),
  ),
  'src/debug/**': [
    allowOnlyTypes(
      matchAbove([...parts, 'transport', 'ad-break', ...composition]),
      'debug/ may import platform/ and outcome.ts, and only types from the rest.',
    ),
  ],
  'src/ad-break/**': [
    forbid(
      matchAbove(composition),
      'ad-break/ is a lower layer; create-ads.ts wires the parts together.',
    ),
  ],
  'src/portal/**': [
    allowOnlyTypes(
      matchAbove([...composition, 'decision', 'outbox', 'reward', 'creative', 'engine']),
      'portal/ may import platform/ and ad-break/, and only types from the rest.',
    ),
  ],
  'src/{script-tag,ad-placement}/**': [
    forbid(matchAbove(['server']), 'A page must never hold a signing secret.'),
  ],
  'src/server/**': [
    forbid(
      '^\\.\\./[a-z]',
      'trueward/server is independent: it shares nothing with the browser code.',
    ),
    forbid('^(eventemitter3|idb-keyval)$', 'trueward/server has no dependencies.'),
  ],
};

const serverOnly = forbid(
  '^(\\.\\./)+src/|^trueward(/phaser)?$',
  'The service may import only `trueward/server` from the SDK.',
);
const noServiceDependents = forbid(
  '^(\\.\\./)+(demo|test|scripts)/',
  'The service must not import code that depends on it.',
);
/** Matches text that doesn't start with `name`. The linter's regular expressions have no lookahead. */
const otherThan = (name) =>
  `(${Array.from(name, (letter, at) => `${name.slice(0, at)}[^${letter}]`).join('|')})`;
const demandDoor = forbid(
  `^(\\.\\./)+demand/${otherThan('index')}`,
  'Outside demand has one door: import from demand/index.ts.',
);
const anywhereInService = [serverOnly, noServiceDependents, demandDoor];

const belowProgram = forbid(
  matchAbove(['program', 'main']),
  'program/ is the highest layer: pass in what is needed.',
);
/** The service's folders, from the bottom layer to the top. */
const serviceLayers = [
  ['platform'],
  ['store'],
  ['access', 'trace'],
  ['history', 'media', 'resource'],
  ['wallet'],
  ['demand'],
  ['decision'],
  ['reward'],
  ['webhook'],
  ['inspect'],
  ['http'],
];
/** The files and folders in `demand/`, from the bottom layer to the top. */
const demandLayers = [['vast', 'openrtb'], ['exchange', 'intake', 'tracker'], ['index.ts']];
/** The folders and files in `program/`, from the bottom layer to the top. */
const programLayers = [['config'], ['assemble.ts'], ['development'], ['cli']];
/** The files and folders in `http/`, from the bottom layer to the top. `app.ts` is above them and adds all routes. */
const httpLayers = [
  ['problem.ts'],
  [
    'request-bodies.ts',
    'validation.ts',
    'server.ts',
    'client-address.ts',
    'limits',
    'openapi.ts',
    'docs-page.ts',
    'monitoring',
    'files.ts',
  ],
  ['authentication'],
  ['operations.ts'],
  ['routes'],
  ['panel'],
];
/** Creates rules that let each file and folder import only from lower layers. This includes types. */
const layers = (parent, rows, files = []) =>
  Object.fromEntries(
    rows.flatMap((row, at) =>
      row.map((part) => {
        const isFile = part.endsWith('.ts');
        const others = [...files, ...rows.slice(at).flat()].filter((other) => other !== part);
        const pattern = (isFile ? matchBeside : matchAbove)(
          others.map((name) => name.replace('.ts', '')),
        );
        const lowerLayers = rows.slice(0, at).flat().join(', ');
        return [
          isFile ? `${parent}/${part}` : `${parent}/${part}/**`,
          [
            ...(parent === 'service/src/program' ? [] : [belowProgram]),
            forbid(
              pattern,
              `In ${parent}, ${part} may import ${lowerLayers === '' ? 'nothing' : `only ${lowerLayers}`}.`,
            ),
          ],
        ];
      }),
    ),
  );

const service = {
  'service/src/**': [],
  ...layers('service/src', serviceLayers),
  ...layers('service/src/demand', demandLayers),
  ...layers('service/src/http', httpLayers, ['app']),
  ...layers('service/src/program', programLayers),
  'service/src/program/config/**': [
    forbid(matchAbove(['assemble', 'cli', 'development']), 'config/ is below the programs.'),
    allowOnlyTypes(
      matchAbove(serviceLayers.flat().filter((folder) => !['platform', 'trace'].includes(folder))),
      'config/ reads settings. It may import only types from the parts that use them.',
    ),
  ],
};

const panel = [
  forbid('^(\\.\\./)+(demo|test|scripts)/', 'The panel must not import code that depends on it.'),
  allowOnlyTypes(
    '^(\\.\\./)+protocol/|^@trueward/protocol(/wire)?$',
    'The panel may import only types from the wire contract: use `import type`. The schemas need their library.',
  ),
];
const panelUsesHttp = forbid(
  '^(\\.\\./)+src/',
  'The panel calls the service over HTTP. Only its preview shows ads with the SDK.',
);
const previewUsesRenderers = forbid(
  `^(\\.\\./)+src/(${['ad-break', 'decision', 'outbox', 'reward', 'engine', 'transport', ...composition].join('|')})(/|\\.ts$)`,
  'The preview may import only the SDK’s renderers.',
);

const importRules = (table, anywhere) =>
  Object.entries(table).map(([files, patterns]) =>
    restrictImports(files, [...anywhere, ...patterns]),
  );
const restrictImports = (files, patterns) => ({
  files: [files],
  rules: { 'no-restricted-imports': ['error', { patterns }] },
});

export default {
  plugins: ['typescript', 'import', 'unicorn', 'oxc', 'promise'],
  jsPlugins: ['./scripts/lib/lint-rules.mjs'],
  categories: { correctness: 'error' },
  // `test/package` checks the Cocos sample: oxlint doesn't support its `moduleResolution: node`.
  ignorePatterns: ['dist', 'node_modules', '.trueward', 'protocol/wire.ts', 'demo/cocos'],
  rules: {
    'import/no-cycle': ['error', { ignoreTypes: false }],
    'import/no-self-import': 'error',
    eqeqeq: ['error', 'always', { null: 'ignore' }],
    'no-constant-binary-expression': 'error',
    'no-else-return': 'error',
    'no-empty': 'error',
    'no-implicit-coercion': 'error',
    'no-param-reassign': 'error',
    'no-unused-expressions': 'error',
    'no-var': 'error',
    'prefer-const': 'error',
    'typescript/await-thenable': 'error',
    'typescript/ban-ts-comment': 'error',
    'typescript/consistent-type-imports': 'error',
    'typescript/no-explicit-any': 'error',
    'typescript/no-floating-promises': [
      'error',
      { allowForKnownSafeCalls: [{ from: 'package', package: 'node:test', name: 'test' }] },
    ],
    'typescript/no-misused-promises': 'error',
    'typescript/no-non-null-assertion': 'error',
    'typescript/only-throw-error': 'error',
    'typescript/return-await': ['error', 'in-try-catch'],
    'typescript/switch-exhaustiveness-check': [
      'error',
      { considerDefaultExhaustiveForUnions: true },
    ],
    // AbortSignal reasons and IndexedDB errors are typed `any`.
    'typescript/prefer-promise-reject-errors': 'off',
    // We spread only ASCII strings and storage objects, so nothing is lost.
    'typescript/no-misused-spread': 'off',
    // Our objects are closures: their methods don't use `this`.
    'typescript/unbound-method': 'off',
    'unicorn/filename-case': ['error', { case: 'kebabCase' }],
    'unicorn/prefer-node-protocol': 'error',
  },
  overrides: [
    {
      files: ['{src,service/src,service/panel,protocol,demo,scripts}/**'],
      rules: { 'max-lines': ['error', { max: 300, skipBlankLines: true, skipComments: true }] },
    },
    {
      files: ['src/**'],
      rules: {
        'no-console': 'error',
        'trueward/no-iterable-spread': 'error',
        'trueward/own-properties': 'error',
      },
    },
    // It runs on a server. An audio context may be a wrapper of the game's, with listeners of its own.
    {
      files: ['src/server/**', 'src/engine/held-audio.ts'],
      rules: { 'trueward/own-properties': 'off' },
    },
    {
      files: ['service/src/**'],
      rules: {
        'no-restricted-properties': [
          'error',
          {
            object: 'AbortSignal',
            property: 'any',
            message: 'On Node 20, every call leaks memory in its source signals. Use `linkSignal`.',
          },
        ],
        'trueward/one-clock': 'error',
      },
    },
    {
      files: [
        // The clock itself, the clock that tests control, and a command that has no database.
        'service/src/platform/{time,steady-clock}.ts',
        'service/src/store/database-clock.ts',
        'service/src/program/development/test-clock.ts',
        'service/src/program/cli/listen.ts',
        // Migrations run before the clock is open, and compare no times.
        'service/src/store/migrate.ts',
      ],
      rules: { 'trueward/one-clock': 'off' },
    },
    {
      files: ['{service/src,demo,scripts,create-trueward/lib}/**'],
      rules: { 'trueward/portable': 'error' },
    },
    {
      files: [
        // The helpers themselves.
        'service/src/platform/{durable-files,process-identity,stop-requests}.ts',
        'scripts/lib/{process-identity,replace-file,run,start-process}.mjs',
        // Both lock files move a stale lock aside, which replaces nothing.
        'service/src/store/directory-lock.ts',
        'scripts/{start,lib/start-lock,lib/start-everything}.mjs',
        // An example to copy, which uses nothing from the service.
        'demo/game-server/{journal,main}.ts',
        // Tools for Linux.
        'scripts/{mutation,lib/silent-sound,lib/mutation/*}.mjs',
        'demo/creatives/make.mjs',
      ],
      rules: { 'trueward/portable': 'off' },
    },
    {
      files: ['test/types/**'],
      rules: {
        'typescript/ban-ts-comment': ['error', { 'ts-expect-error': 'allow-with-description' }],
      },
    },
    ...importRules(sdk, anywhereInSdk),
    restrictImports(`src/{${engines.join()}}/**`, [
      wireTypesOnly,
      noDependents,
      noNode,
      allowOnlyTypes(
        '^(phaser|phaser/.*|cc)$',
        'The game provides the engine: import only types from it.',
      ),
      forbid(
        matchAbove(['script-tag', 'ad-placement', 'server']),
        'An engine adapter may import only the core.',
      ),
    ]),
    ...importRules(service, anywhereInService),
    restrictImports('service/panel/src/**', [...panel, panelUsesHttp]),
    restrictImports('service/panel/src/preview/show-preview.ts', [...panel, previewUsesRenderers]),
    restrictImports('create-trueward/**', [
      forbid(
        '^(\\.\\./)+(src|service|demo|test|scripts)/',
        'create-trueward is published separately.',
      ),
    ]),
    restrictImports('protocol/**', [
      forbid(
        '^(\\.\\./)+(src|service|demo|test|scripts)/',
        'The wire contract must not import anything from this repository.',
      ),
    ]),
  ],
};
