/*
 * Resolves public third-party samples, which are not part of this repository. `VAST_SAMPLES` is the path to a folder
 * with clones of InteractiveAdvertisingBureau/VAST_Samples, dailymotion/vast-client-js, or both.
 */
import { readdirSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join, posix, sep } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  type FetchResult,
  resolveVast,
  type VastResult,
} from '../../../src/demand/vast/resolve.ts';
import { systemClock } from '../../../src/platform/time.ts';
import { rules } from './fixtures.ts';
import { dailymotionSamples, type ExpectedResult, iabSamples } from './sample-expectations.ts';

const folder = process.env['VAST_SAMPLES'];
const files = folder === undefined ? [] : listXml(folder);
const suites = [
  { name: 'the IAB’s VAST_Samples', samples: iabSamples },
  { name: 'Dailymotion’s vast-client', samples: dailymotionSamples },
].map(({ name, samples }) => ({
  name,
  samples: Array.from(samples, ([path, expected]) => ({ path, expected, file: findSuffix(path) })),
}));

if (folder === undefined) {
  test.skip('public VAST samples: skipped, because VAST_SAMPLES is not set', () => undefined);
} else {
  describe('the public samples', () => testSamples(folder));
}

let base = '';

function testSamples(root: string): void {
  let server: Server;

  beforeAll(async () => {
    server = createServer((request, response) => {
      const requestedUrl = new URL(request.url ?? '/', base).searchParams.get('url') ?? '';
      const file = findFile(requestedUrl);
      if (file === undefined) {
        response.writeHead(404).end();
        return;
      }
      void readFile(join(root, file)).then((body) => response.end(body));
    });
    await new Promise<void>((resolve) => {
      server.listen(0, '127.0.0.1', resolve);
    });
    base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });

  afterAll(() => {
    server.close();
  });

  // The folder may contain only one of the suites, but that suite must be complete.
  const presentSuites = suites.filter(({ samples }) =>
    samples.some(({ file }) => file !== undefined),
  );

  test('are present', () => {
    expect(presentSuites, `${root} has none of them`).not.toEqual([]);
  });

  for (const { name, samples } of presentSuites) {
    test.each(samples)(`${name}: $path`, async ({ file, expected }) => {
      expect(file, 'is missing').toBeDefined();
      expect(summarize(await resolveSample(file ?? ''))).toEqual(expected);
    });
  }
}

/** Resolves a sample via a tag at `samples.test`, a host that serves all files in the folder. */
const resolveSample = (file: string): Promise<VastResult> =>
  resolveVast(
    { tagUrl: `http://samples.test/${file.split('/').map(encodeURIComponent).join('/')}` },
    {
      fetchDocument: fetchFromServer,
      clock: systemClock,
      random: Math.random,
      pause: () => setImmediate(),
      macros: {},
      rules: { ...rules, httpTags: true, httpMedia: true, httpTrackers: true },
    },
  );

async function fetchFromServer(url: string): Promise<FetchResult> {
  const response = await fetch(`${base}/?url=${encodeURIComponent(url)}`);
  if (!response.ok) return { status: 'failed', reason: `HTTP ${response.status}` };
  return { status: 'ok', text: await response.text(), url };
}

/** Reduces a result to the fields of {@link ExpectedResult}. */
function summarize({ ad, noAd, errors }: VastResult): ExpectedResult {
  if (!ad) return { noAd: noAd.code, trackers: {}, progress: [], errors };
  const { clickThrough, icons, captions, durationMs = 0 } = ad;
  return {
    ad: {
      media: posix.basename(new URL(ad.media.url).pathname),
      durationMs,
      ...(clickThrough !== undefined && { clickThrough }),
      ...(icons.length > 0 && { icons: icons.length }),
      ...(captions.length > 0 && { captions: captions.length }),
    },
    trackers: ad.trackers,
    progress: ad.progress.map(
      ({ offset, url }) => `${'ms' in offset ? offset.ms : `${offset.percent}%`} ${url}`,
    ),
    errors,
  };
}

/**
 * Returns the file for a URL. Looks for a file with the same path, then for a file whose path is a suffix of the path
 * in the URL (`…/master/VAST 3.0 Samples/Wrapper_Tag-test.xml`), then for the only file with the same name.
 */
function findFile(url: string): string | undefined {
  const path = decodeURIComponent(new URL(url).pathname).slice(1);
  if (files.includes(path)) return path;
  const suffixMatches = files.filter((file) =>
    path.endsWith(`/${file.split('/').slice(-2).join('/')}`),
  );
  const nameMatches = files.filter((file) => posix.basename(file) === posix.basename(path));
  return suffixMatches[0] ?? (nameMatches.length === 1 ? nameMatches[0] : undefined);
}

function findSuffix(path: string): string | undefined {
  return files.find((file) => file === path || file.endsWith(`/${path}`));
}

function listXml(root: string): string[] {
  return readdirSync(root, { recursive: true, encoding: 'utf8' })
    .map((file) => file.split(sep).join('/'))
    .filter((file) => file.endsWith('.xml'));
}
