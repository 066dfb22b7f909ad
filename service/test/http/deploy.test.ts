import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { parseAllDocuments } from 'yaml';
import type { Setting } from '../../src/program/config/settings.ts';
import { settingList } from '../../src/program/config/settings.ts';
import { startInProcess } from '../in-process.ts';

const root = fileURLToPath(new URL('../../../', import.meta.url));
const read = (path: string) => readFileSync(`${root}${path}`, 'utf8');
const files = readdirSync(`${root}deploy`, { recursive: true, encoding: 'utf8' });
const yamlFiles = files.filter((file) => /\.ya?ml$/.test(file)).map((file) => `deploy/${file}`);

type Tree = Record<string, unknown>;

/** Reads all documents in a YAML file and resolves its merge keys (`<<`). */
function readDocuments(path: string): Tree[] {
  return parseAllDocuments(read(path), { merge: true }).map((document) => {
    if ('empty' in document) throw new Error(`${path} is empty.`);
    expect(document.errors).toEqual([]);
    return document.toJS() as Tree;
  });
}

/** Parses the variables in `NAME=value` lines. */
const parseVariables = (text: string): [string, string][] =>
  [...text.matchAll(/^([A-Z0-9_]+)=(.*)$/gm)].map(([, name = '', value = '']) => [name, value]);

/** Returns every variable that a deployment sets for the service. */
function serviceVariables(): [string, string][] {
  const compose = readCompose(...composeFiles);
  const kubernetes = yamlFiles
    .filter((path) => path.includes('kubernetes'))
    .flatMap(readDocuments) as { kind?: string; data?: Tree; stringData?: Tree }[];
  return [
    ...['service-a', 'migrate'].flatMap((name) =>
      Object.entries(compose.services[name]?.environment ?? {}),
    ),
    ...kubernetes.flatMap(({ data = {}, stringData = {} }) =>
      Object.entries({ ...data, ...stringData } as Record<string, string>),
    ),
    ...parseVariables(read('deploy/systemd/trueward.env')),
    ...parseVariables(read('deploy/example.env')),
    ...[...read('deploy/Containerfile').matchAll(/([A-Z0-9_]+)=(\S+)/g)].map(
      ([, name = '', value = '']): [string, string] => [name, value],
    ),
    ...[...read('deploy/systemd/trueward.service').matchAll(/(TRUEWARD_[A-Z_]+)=(\S+)/g)].map(
      ([, name = '', value = '']): [string, string] => [name, value],
    ),
  ];
}

test('every variable in deploy/ is a known setting with a valid value', () => {
  const settings = new Map<string, Setting>(settingList);
  const otherVariables = new Set(['POSTGRES_PASSWORD', 'GRAFANA_PASSWORD', 'NODE_ENV']);
  const variables = serviceVariables().filter(([name]) => !otherVariables.has(name));
  expect(variables.length).toBeGreaterThan(25);
  const unknownVariables = variables.filter(([name]) => !settings.has(name));
  expect(unknownVariables).toEqual([]);
  // Skips placeholders: values that are empty or contain ${…} or spaces.
  const literals = variables.filter(
    ([name, value]) => !/^$|\$|\s/.test(value) && name !== 'TRUEWARD_CONFIG',
  );
  expect(literals.filter(([name, value]) => settings.get(name)?.isValid(value) !== true)).toEqual(
    [],
  );
});

test('the guide documents every setting', () => {
  const guide = read('docs/operate.md');
  expect(
    settingList.map(([name]) => name).filter((name) => !guide.includes(`\`${name}\``)),
  ).toEqual([]);
});

interface ComposeService {
  image?: string;
  depends_on?: string[] | Record<string, { condition: string }>;
  volumes?: string[];
  healthcheck?: Tree;
  entrypoint?: string[];
  command?: string[];
  environment?: Record<string, string>;
}
interface Compose {
  services: Record<string, ComposeService>;
  volumes: Tree;
}

/** Merges Compose files the way Compose does: mappings are merged, and for other values, the last file wins. */
function readCompose(...paths: string[]): Compose {
  const [base, ...overrideFiles] = paths.map(
    (path) => readDocuments(path)[0] as unknown as Compose,
  );
  const mergedFile = base ?? { services: {}, volumes: {} };
  for (const { services, volumes } of overrideFiles) {
    Object.assign(mergedFile.volumes, volumes);
    for (const [name, override] of Object.entries(services)) {
      const { environment, depends_on } = mergedFile.services[name] ?? {};
      mergedFile.services[name] = {
        ...mergedFile.services[name],
        ...override,
        environment: { ...environment, ...override.environment },
        depends_on: { ...readConditions(depends_on), ...readConditions(override.depends_on) },
      };
    }
  }
  return mergedFile;
}

const readConditions = (
  dependencies: ComposeService['depends_on'] = [],
): Record<string, { condition: string }> =>
  Array.isArray(dependencies)
    ? Object.fromEntries(dependencies.map((name) => [name, { condition: 'service_started' }]))
    : dependencies;

const composeFiles = ['deploy/compose.yaml', 'deploy/compose.citus.yaml'];

test.each([[composeFiles.slice(0, 1)], [composeFiles]])(
  '%j refer only to existing services, volumes and files',
  (paths) => {
    const { services, volumes } = readCompose(...paths);
    for (const { depends_on, volumes: mounts = [], entrypoint = [] } of Object.values(services)) {
      for (const [name, { condition }] of Object.entries(readConditions(depends_on))) {
        expect(services).toHaveProperty([name]);
        if (condition === 'service_healthy')
          expect(services[name]).toHaveProperty('healthcheck.test');
      }
      for (const mount of mounts) {
        const [source = ''] = mount.split(':');
        if (source.startsWith('.'))
          expect(existsSync(`${root}deploy/${source}`), source).toBe(true);
        else expect(volumes).toHaveProperty([source]);
      }
      const script = entrypoint.find((word) => word.endsWith('.sh'));
      if (script !== undefined)
        expect(mounts.map((mount) => mount.split(':')[1])).toContain(script);
    }
    const nginxConfig = read('deploy/nginx.conf');
    for (const [, host = ''] of nginxConfig.matchAll(/server (\S+):8700/g))
      expect(services).toHaveProperty([host]);
  },
);

test('every Citus node has a standby', () => {
  const { services } = readCompose(...composeFiles);
  const nodes = services['cluster']?.entrypoint?.slice(2) ?? [];
  expect(nodes).toHaveLength(3);
  for (const node of nodes) {
    const standby = services[`${node}-standby`];
    expect(standby?.entrypoint).toEqual(['sh', '/follow.sh', node]);
    // A standby must allow at least as many connections and prepared transactions as its primary.
    expect(standby?.command).toEqual(services[node]?.command);
    expect(standby?.depends_on).toEqual({ [node]: { condition: 'service_healthy' } });
    expect(services['cluster']?.depends_on).toHaveProperty([`${node}-standby`], {
      condition: 'service_healthy',
    });
  }
  expect(services['migrate']?.depends_on).toHaveProperty('cluster', {
    condition: 'service_completed_successfully',
  });
  const hosts = /@([^/]+)\//.exec(services['service-b']?.environment?.['DATABASE_URL'] ?? '')?.[1];
  expect(hosts?.split(',')).toEqual(nodes);
});

test('the Kubernetes manifests give processes enough time to drain', () => {
  const { resources } = readDocuments('deploy/kubernetes/kustomization.yaml')[0] as {
    resources: string[];
  };
  const objects = [...resources, 'secret.example.yaml'].flatMap((file) =>
    readDocuments(`deploy/kubernetes/${file}`),
  ) as { kind: string; metadata: { name: string }; spec: Tree; data: Tree }[];
  const find = (kind: string) => objects.find((object) => object.kind === kind);
  const deployment = find('Deployment')?.spec as {
    selector: { matchLabels: Tree };
    template: {
      metadata: { labels: Tree };
      spec: { terminationGracePeriodSeconds: number; containers: { envFrom: Tree[] }[] };
    };
  };
  const { template, selector } = deployment;
  expect(template.metadata.labels).toEqual(selector.matchLabels);
  expect(find('Service')?.spec).toMatchObject({ selector: selector.matchLabels });
  expect(find('PodDisruptionBudget')?.spec).toMatchObject({ selector });
  expect(template.spec.containers[0]?.envFrom).toEqual([
    { configMapRef: { name: find('ConfigMap')?.metadata.name } },
    { secretRef: { name: find('Secret')?.metadata.name } },
  ]);
  const drainS = Number(find('ConfigMap')?.data['DRAIN_S']);
  expect(template.spec.terminationGracePeriodSeconds).toBeGreaterThanOrEqual(drainS + 10);
});

test('the dashboard and the alerts refer only to existing metrics', async () => {
  const runningService = await startInProcess();
  const metrics = await (await fetch(`${runningService.url}/metrics`)).text();
  await runningService.stop();
  const metricNames = new Set([...metrics.matchAll(/^# TYPE (\S+)/gm)].map(([, name]) => name));
  const alerts = read('deploy/monitoring/alerts.yml');
  const dashboard = JSON.parse(read('deploy/monitoring/dashboard.json')) as {
    panels: { targets?: { expr: string }[] }[];
  };
  const expressions = dashboard.panels.flatMap(({ targets = [] }) =>
    targets.map(({ expr }) => expr),
  );
  const matches = [alerts, ...expressions]
    .join('\n')
    .matchAll(/\b(?:trueward|process|nodejs)_[a-z0-9_]+\b/g);
  const names = [
    ...new Set([...matches].map(([name]) => name.replace(/_(count|sum|bucket)$/, ''))),
  ];
  expect(names.length).toBeGreaterThan(10);
  expect(names.filter((name) => !metricNames.has(name))).toEqual([]);
  const runbook = read('docs/runbook.md');
  for (const [, alert] of alerts.matchAll(/alert: (\w+)/g))
    expect(runbook).toContain(`## ${alert}`);
});

test('every YAML file and the systemd unit are valid', ({ skip }) => {
  expect(yamlFiles.length).toBeGreaterThanOrEqual(9);
  for (const path of yamlFiles) expect(readDocuments(path).length).toBeGreaterThan(0);
  if (!existsSync('/usr/bin/systemd-analyze')) return skip('systemd-analyze is not installed.');
  execFileSync('systemd-analyze', ['verify', `${root}deploy/systemd/trueward.service`]);
});

test('the audit actions and webhook events in the guides exist in the code', () => {
  const sourceCode = readdirSync(`${root}service/src`, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts'))
    .map((file) => read(`service/src/${file}`))
    .join('\n');
  const guides = [
    'operate',
    'runbook',
    'webhooks',
    'panel',
    'panel-access',
    'threat-model',
    'privacy',
  ];
  const resourceNames =
    'key|user|creative|webhook|placement|policy|kill_switch|decision|user_token_secret';
  const mentionedNames = guides.flatMap((guide) =>
    [
      ...read(`docs/${guide}.md`).matchAll(new RegExp(`\`((?:${resourceNames})\\.[a-z_]+)\``, 'g')),
    ].map(([, name = '']) => name),
  );
  expect(mentionedNames.length).toBeGreaterThan(5);
  const unknownNames = mentionedNames.filter((name) => {
    const [noun = '', verb = ''] = name.split('.');
    // The code concatenates two strings to build the action names for resources.
    return (
      !sourceCode.includes(`'${name}'`) &&
      !(sourceCode.includes(`'${noun}'`) && sourceCode.includes(`'${verb}'`))
    );
  });
  expect(unknownNames).toEqual([]);
});
