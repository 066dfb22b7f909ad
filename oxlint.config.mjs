/** The lint rules, including who may import whom (ARCHITECTURE.md), which is computed from tables. */
const parts = ['decision', 'outbox', 'reward', 'creative', 'engine'];
const entryPoints = ['index', 'phaser', 'cocos', 'script-tag', 'ad-placement', 'server'];
const composition = ['ads', 'create-ads', 'requests', 'lazy-requests', ...entryPoints];
/** Rejects imports whose path matches. */
const no = (regex, message) => ({ regex, message });
/** The same, but allows `import type`. */
const onlyTypes = (regex, message) => ({ regex, message, allowTypeImports: true });
/** Matches imports of these folders and files from a sibling folder or below. */
const above = (names) => `^(\\.\\./)+(${names.join('|')})(/|\\.ts$)`;
/** The same, from a file in the source root. */
const beside = (names) => `^\\./(${names.join('|')})(/|\\.ts$)`;

const wireTypesOnly = onlyTypes(
  '(^|/)protocol/|^@trueward/',
  'The SDK imports only types of the wire contract: use `import type`.',
);
const noDependents = no(
  '^(\\.\\./)+(service|demo|test|scripts)/',
  'The SDK must not import what depends on it.',
);
const noNode = no('^node:', 'The SDK runs in browsers: no Node modules.');
const noEngine = no('^(phaser|phaser/.*|cc)$', 'Only the engine adapters refer to an engine.');
const anywhereInSdk = [wireTypesOnly, noDependents, noNode, noEngine];

const sdk = {
  'src/*.ts': [
    no(beside(entryPoints.slice(1)), 'Entry points import the core, not the other way around.'),
  ],
  'src/outcome.ts': [
    no('^\\./', 'outcome.ts is the lowest layer: it imports nothing from the SDK.'),
  ],
  'src/options.ts': [
    onlyTypes(
      beside([...parts, 'transport', 'ad-break', ...composition]),
      'options.ts uses platform/ and outcome.ts; from the rest, only types.',
    ),
  ],
  'src/platform/**': [
    no('^\\.\\./', 'platform/ is the lowest layer: it imports nothing from the SDK.'),
  ],
  'src/transport/**': [
    no(
      above([...parts, 'ad-break', ...composition]),
      'transport/ uses platform/, outcome.ts and options.ts.',
    ),
  ],
  ...Object.fromEntries(
    parts.map((part) => [
      `src/${part}/**`,
      [
        no(
          above(['ad-break', ...composition]),
          `${part}/ is a lower layer; create-ads.ts wires the parts.`,
        ),
        onlyTypes(
          above(parts.filter((other) => other !== part)),
          'Siblings import only types from each other: use `import type`.',
        ),
      ],
    ]),
  ),
  'src/debug/**': [
    onlyTypes(
      above([...parts, 'transport', 'ad-break', ...composition]),
      'debug/ uses platform/ and outcome.ts; from the rest, only types.',
    ),
  ],
  'src/ad-break/**': [
    no(above(composition), 'ad-break/ is a lower layer; create-ads.ts wires the parts.'),
  ],
  'src/{script-tag,ad-placement}/**': [
    no(above(['server']), 'A page must never hold a signing secret.'),
  ],
  'src/server/**': [
    no('^\\.\\./[a-z]', 'trueward/server is independent: it shares nothing with the browser code.'),
    no('^(eventemitter3|idb-keyval)$', 'trueward/server has no dependencies.'),
  ],
};

const serverOnly = no(
  '^(\\.\\./)+src/|^trueward(/phaser)?$',
  'The service uses only `trueward/server` from the SDK.',
);
const noServiceDependents = no(
  '^(\\.\\./)+(demo|test|scripts)/',
  'The service must not import what depends on it.',
);
const anywhereInService = [serverOnly, noServiceDependents];

const programs = ['config', 'development', 'cli', 'assemble', 'main'];
const belowPrograms = no(
  above(programs),
  'config/, development/ and cli/ are higher layers: pass in what is needed.',
);
/** The folders of the service, from bottom to top. */
const serviceLayers = [
  ['platform'],
  ['store'],
  ['key', 'trace'],
  ['demand', 'media', 'report'],
  ['resource'],
  ['exchange'],
  ['decision', 'upkeep', 'user'],
  ['reward'],
  ['event'],
  ['webhook'],
  ['intake', 'tracker'],
  ['inspect'],
  ['http'],
];
/** The files and folders of `http/`, from bottom to top; `app.ts` adds the routes of all. */
const httpLayers = [
  ['problem.ts'],
  ['request-bodies.ts', 'limits', 'openapi.ts', 'monitoring', 'files.ts'],
  ['authentication'],
  ['operations.ts'],
  ['routes'],
  ['panel'],
];
/** Each file and folder imports from lower layers only, types included. */
const layers = (parent, rows, files = []) =>
  Object.fromEntries(
    rows.flatMap((row, at) =>
      row.map((part) => {
        const isFile = part.endsWith('.ts');
        const others = [...files, ...rows.slice(at).flat()].filter((other) => other !== part);
        const pattern = (isFile ? beside : above)(others.map((name) => name.replace('.ts', '')));
        const uses = rows.slice(0, at).flat().join(', ') || 'nothing';
        return [
          isFile ? `${parent}/${part}` : `${parent}/${part}/**`,
          [belowPrograms, no(pattern, `Of ${parent}, ${part} uses ${uses} only.`)],
        ];
      }),
    ),
  );

const service = {
  'service/src/**': [],
  ...layers('service/src', serviceLayers),
  ...layers('service/src/http', httpLayers, ['app']),
  'service/src/config/**': [
    no(above(programs.slice(1)), 'config/ is below the programs.'),
    onlyTypes(
      above(serviceLayers.flat().filter((folder) => !['platform', 'trace'].includes(folder))),
      'config/ reads settings: from the parts that use them, only types.',
    ),
  ],
  'service/src/development/**': [
    no(above(['cli']), 'cli/ uses development/, not the other way around.'),
  ],
};

const panel = [
  no('^(\\.\\./)+(demo|test|scripts)/', 'The panel must not import what depends on it.'),
  onlyTypes(
    '(^|/)protocol/|^@trueward/protocol',
    'The panel imports only types of the wire contract: use `import type`.',
  ),
];
const panelUsesHttp = no(
  '^(\\.\\./)+src/',
  'The panel uses the service over HTTP; only its preview shows ads with the SDK.',
);
const previewUsesRenderers = no(
  `^(\\.\\./)+src/(${['ad-break', 'decision', 'outbox', 'reward', 'engine', 'transport', ...composition].join('|')})(/|\\.ts$)`,
  'The preview uses only the renderers of the SDK.',
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
    // The reasons of an AbortSignal and the errors of IndexedDB are typed `any`.
    'typescript/prefer-promise-reject-errors': 'off',
    // We spread only ASCII strings and storage objects, which loses nothing.
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
    { files: ['src/**'], rules: { 'no-console': 'error', 'trueward/no-iterable-spread': 'error' } },
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
      },
    },
    {
      files: ['test/types/**'],
      rules: {
        'typescript/ban-ts-comment': ['error', { 'ts-expect-error': 'allow-with-description' }],
      },
    },
    ...importRules(sdk, anywhereInSdk),
    restrictImports('src/{phaser,cocos}/**', [
      wireTypesOnly,
      noDependents,
      noNode,
      onlyTypes('^(phaser|phaser/.*|cc)$', 'The game provides the engine: import only its types.'),
      no(above(['script-tag', 'ad-placement', 'server']), 'An engine adapter uses only the core.'),
    ]),
    ...importRules(service, anywhereInService),
    restrictImports('service/panel/src/**', [...panel, panelUsesHttp]),
    restrictImports('service/panel/src/preview/show-preview.ts', [...panel, previewUsesRenderers]),
    restrictImports('create-trueward/**', [
      no('^(\\.\\./)+(src|service|demo|test|scripts)/', 'create-trueward is published separately.'),
    ]),
    restrictImports('protocol/**', [
      no(
        '^(\\.\\./)+(src|service|demo|test|scripts)/',
        'The wire contract imports nothing from this repository.',
      ),
    ]),
  ],
};
