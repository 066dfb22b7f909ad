/**
 * The lint rules, and with them who may import whom (ARCHITECTURE.md). JavaScript instead of JSON,
 * because the rules about imports are a table.
 */
const parts = ['decision', 'outbox', 'reward', 'creative', 'engine'];
const entryPoints = ['index', 'phaser', 'cocos', 'script-tag', 'ad-placement', 'server'];
const composition = ['ads', 'create-ads', 'requests', 'lazy-requests', ...entryPoints];
/** Refuses imports whose path matches. */
const no = (regex, message) => ({ regex, message });
/** Refuses them too, but not `import type`. */
const onlyTypes = (regex, message) => ({ regex, message, allowTypeImports: true });
/** Paths of these folders and files, seen from a folder beside them or below. */
const above = (names) => `^(\\.\\./)+(${names.join('|')})(/|\\.ts$)`;
/** The same, seen from a file at the top of the sources. */
const beside = (names) => `^\\./(${names.join('|')})(/|\\.ts$)`;

const typesOfTheWire = onlyTypes(
  '(^|/)protocol/|^@trueward/',
  'Of the wire contract, the SDK takes types only: `import type`.',
);
const noUsers = no(
  '^(\\.\\./)+(service|demo|test|scripts)/',
  'The SDK does not know what uses it.',
);
const noNode = no('^node:', 'Nothing in the SDK knows Node.');
const noEngine = no('^(phaser|phaser/.*|cc)$', 'Only the adapters know an engine.');
const anywhereInSdk = [typesOfTheWire, noUsers, noNode, noEngine];

const sdk = {
  'src/*.ts': [
    no(beside(entryPoints.slice(1)), 'Entry points use the core, never the other way round.'),
  ],
  'src/outcome.ts': [no('^\\./', 'outcome.ts is the ground: it imports nothing of the SDK.')],
  'src/options.ts': [
    onlyTypes(
      beside([...parts, 'transport', 'ad-break', ...composition]),
      'options.ts uses platform/ and outcome.ts; of the rest it may name types.',
    ),
  ],
  'src/platform/**': [no('^\\.\\./', 'platform/ is the ground: it imports nothing of the SDK.')],
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
          `${part}/ lies below; create-ads.ts wires the parts.`,
        ),
        onlyTypes(
          above(parts.filter((other) => other !== part)),
          'Siblings know each other by the types of their public interfaces: `import type`.',
        ),
      ],
    ]),
  ),
  'src/debug/**': [
    onlyTypes(
      above([...parts, 'transport', 'ad-break', ...composition]),
      'debug/ uses platform/ and outcome.ts; of the rest it may name types.',
    ),
  ],
  'src/ad-break/**': [
    no(above(composition), 'ad-break/ lies below; create-ads.ts wires the parts.'),
  ],
  'src/{script-tag,ad-placement}/**': [
    no(above(['server']), 'Nothing in a page may hold a signing secret.'),
  ],
  'src/server/**': [
    no('^\\.\\./[a-z]', 'trueward/server stands alone: it shares nothing with the browser side.'),
    no('^(eventemitter3|idb-keyval)$', 'trueward/server has no dependencies.'),
  ],
};

const ofTheSdk = no(
  '^(\\.\\./)+src/|^trueward(/phaser)?$',
  'Of the SDK, the service uses `trueward/server` only.',
);
const noUsersOfService = no(
  '^(\\.\\./)+(demo|test|scripts)/',
  'The service does not know what uses it.',
);
const anywhereInService = [ofTheSdk, noUsersOfService];

const tops = ['config', 'development', 'cli', 'assemble', 'main'];
const belowTops = no(
  above(tops),
  'config/, development/ and cli/ lie above: pass in what is needed.',
);
/** The folders of the service, from bottom to top. */
const serviceLayers = [
  ['platform'],
  ['store'],
  ['key', 'trace'],
  ['media', 'report', 'resource'],
  ['decision', 'upkeep', 'user'],
  ['reward'],
  ['event'],
  ['webhook'],
  ['inspect'],
  ['http'],
];
/** The folders of `http/`, from bottom to top; `app.ts` adds the routes of all. */
const httpLayers = [
  ['problems'],
  ['requests', 'limits', 'openapi', 'monitoring', 'files'],
  ['authentication'],
  ['operations'],
  ['routes'],
  ['panel'],
];
/** Each folder imports from lower layers only, types included. */
const layers = (parent, rows, files = []) =>
  Object.fromEntries(
    rows.flatMap((row, at) =>
      row.map((folder) => [
        `${parent}/${folder}/**`,
        [
          belowTops,
          no(
            above([...files, ...rows.slice(at).flat()].filter((other) => other !== folder)),
            `Of ${parent}, ${folder}/ uses ${rows.slice(0, at).flat().join(', ') || 'nothing'} only.`,
          ),
        ],
      ]),
    ),
  );

const service = {
  'service/src/**': [],
  ...layers('service/src', serviceLayers),
  ...layers('service/src/http', httpLayers, ['app']),
  'service/src/config/**': [
    no(above(tops.slice(1)), 'config/ lies below the programs.'),
    onlyTypes(
      above(serviceLayers.flat().filter((folder) => !['platform', 'trace'].includes(folder))),
      'config/ reads settings; of the parts that use them, it may name types.',
    ),
  ],
  'service/src/development/**': [no(above(['cli']), 'cli/ uses development/.')],
};

const panel = [
  no('^(\\.\\./)+(demo|test|scripts)/', 'The panel does not know what uses it.'),
  onlyTypes(
    '(^|/)protocol/|^@trueward/protocol',
    'Of the wire contract, the panel takes types only: `import type`.',
  ),
];
const panelTalks = no(
  '^(\\.\\./)+src/',
  'The panel speaks to the service by HTTP; only its preview shows ads by the SDK.',
);
const previewShows = no(
  `^(\\.\\./)+src/(${['ad-break', 'decision', 'outbox', 'reward', 'engine', 'transport', ...composition].join('|')})(/|\\.ts$)`,
  'The preview uses the renderers of the SDK, and nothing else of it.',
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
  // Types of the Cocos sample are checked by `test/package`: oxlint reads no `moduleResolution: node`.
  ignorePatterns: ['dist', 'node_modules', '.trueward', 'protocol/wire.ts', 'demo/cocos'],
  rules: {
    'import/no-cycle': 'error',
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
    // The reason of an AbortSignal and the errors of IndexedDB are typed as anything.
    'typescript/prefer-promise-reject-errors': 'off',
    // Spreads of ASCII text, of storage: nothing is lost.
    'typescript/no-misused-spread': 'off',
    // Our objects are closures: their methods have no `this` to lose.
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
      typesOfTheWire,
      noUsers,
      noNode,
      onlyTypes('^(phaser|phaser/.*|cc)$', 'The engine is the game’s own: import its types only.'),
      no(above(['script-tag', 'ad-placement', 'server']), 'An engine adapter uses the core only.'),
    ]),
    ...importRules(service, anywhereInService),
    restrictImports('service/panel/src/**', [...panel, panelTalks]),
    restrictImports('service/panel/src/preview/show-preview.ts', [...panel, previewShows]),
    restrictImports('create-trueward/**', [
      no('^(\\.\\./)+(src|service|demo|test|scripts)/', 'It is published by itself.'),
    ]),
    restrictImports('protocol/**', [
      no(
        '^(\\.\\./)+(src|service|demo|test|scripts)/',
        'The wire contract imports nothing of ours.',
      ),
    ]),
  ],
};
