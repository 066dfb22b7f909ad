import type { Decision, Source } from '../../../protocol/wire.ts';
import { openPool } from '../../../service/test/load.ts';
import type { RunningService } from '../../../service/test/start-service.ts';
import { createDemand } from '../../../service/test/demo-demand.ts';
import { adFrom, bidFrom } from './documents.ts';
import type { SourceServer } from './source-server.ts';

/** The kind and the latency of one source in the benchmark. */
interface SourcePlan {
  kind: 'vast' | 'openrtb';
  delayMs: number;
}

/** The placements with external sources, by name. Each placement also has a house ad. */
export const placements = {
  'VAST, 20 ms': [{ kind: 'vast', delayMs: 20 }],
  'OpenRTB, 20 ms': [{ kind: 'openrtb', delayMs: 20 }],
  'three sources, 20, 40 and 60 ms': [
    { kind: 'vast', delayMs: 20 },
    { kind: 'openrtb', delayMs: 40 },
    { kind: 'vast', delayMs: 60 },
  ],
  'VAST, no delay': [{ kind: 'vast', delayMs: 0 }],
  'OpenRTB, no delay': [{ kind: 'openrtb', delayMs: 0 }],
} as const satisfies Record<string, readonly SourcePlan[]>;

export const houseOnly = 'house ads only';
const hanging = 'all hang';
export type PlacementName = keyof typeof placements | typeof houseOnly | typeof hanging;

/** A decision that a player's device received. */
export interface Decided {
  player: number;
  ms: number;
  decision: Decision;
}

/** A request that a player's device sent directly to a source. */
interface DirectRequest {
  player: number;
  ms: number;
}

/** Players in the sandbox, because only sandbox sources may use loopback IPs. */
export interface Players {
  decide(placement: PlacementName): Promise<Decided>;
  /** Requests a document from a source, bypassing the service. */
  requestDirectly(sourceUrl: string): Promise<DirectRequest>;
  close(): Promise<void>;
}

const toPlacementId = (placement: PlacementName): string =>
  placement.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-');

let players = 0;
export function startPlayers(
  { url, keys }: RunningService,
  server: SourceServer,
  connections: number,
): Players {
  const pool = openPool(url, connections);
  const sources = openPool(server.url, connections);
  return {
    async decide(placement) {
      const player = (players += 1);
      const startedMs = performance.now();
      const response = await pool.request({
        path: '/v1/decisions',
        method: 'POST',
        headers: {
          authorization: `Bearer ${keys.sandbox.publishable}`,
          'content-type': 'application/json',
          // The sources identify the player by this number.
          'user-agent': `Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 Chrome/140 Safari/537.36 #${player}`,
        },
        body: JSON.stringify({
          placement: toPlacementId(placement),
          user_ref: `player-${player}`,
          formats: ['video', 'image'],
        }),
      });
      const text = await response.body.text();
      const ms = performance.now() - startedMs;
      if (response.statusCode !== 200) throw new Error(`${response.statusCode} ${text}`);
      return { player, ms, decision: JSON.parse(text) as Decision };
    },
    async requestDirectly(sourceUrl) {
      const player = (players += 1);
      const startedMs = performance.now();
      const { statusCode, body } = await sources.request({
        path: new URL(sourceUrl).pathname,
        method: 'GET',
        headers: { 'x-device-user-agent': `#${player}` },
      });
      await body.text();
      if (statusCode !== 200) throw new Error(`${sourceUrl}: ${statusCode}`);
      return { player, ms: performance.now() - startedMs };
    },
    async close() {
      await Promise.all([pool.close(), sources.close()]);
    },
  };
}

/** Returns the ids of the active sources in the sandbox, excluding house sources. */
export async function listActiveSources(service: RunningService): Promise<string[]> {
  const { call } = createDemand(service);
  const { data } = await call<{ data: Source[] }>('GET', 'sources?limit=100');
  return data.flatMap(({ id, kind, status }) =>
    kind !== 'house' && status === 'active' ? id : [],
  );
}

export async function setSourceStatus(
  service: RunningService,
  ids: readonly string[],
  status: Source['status'],
): Promise<void> {
  const { call } = createDemand(service);
  for (const id of ids) await call('PATCH', `sources/${id}`, { status });
}

/** Adds a placement with only a house ad. */
export async function addHousePlacement(
  service: RunningService,
  placement: PlacementName,
): Promise<void> {
  const { addPlacement } = createDemand(service);
  await addPlacement('Harbour', {
    name: toPlacementId(placement),
    format: 'rewarded',
    min_view_ms: 1_000,
  });
}

let sources = 0;
const addSource = async (
  service: RunningService,
  placement: PlacementName,
  { kind, url }: { kind: SourcePlan['kind']; url: string },
  more: Partial<Source> = {},
): Promise<Source> =>
  createDemand(service).call<Source>('POST', 'sources', {
    name: `Network ${(sources += 1)}`,
    kind,
    ...(kind === 'vast'
      ? { tag_url: url, cpm_micros: 2_000_000 }
      : { endpoint_url: url, floor_micros: 1_000_000 }),
    placements: [toPlacementId(placement)],
    priority: 1,
    ...more,
  });

/** Adds the placement with its sources, and waits until the sources' creatives have been copied and approved. */
export async function addExternalPlacement(
  service: RunningService,
  server: SourceServer,
  placement: keyof typeof placements,
  { decide }: Players,
): Promise<void> {
  await addHousePlacement(service, placement);
  const { call, waitForApproval } = createDemand(service);
  for (const { kind, delayMs } of placements[placement]) {
    const name = `shop-${sources + 1}`;
    await server.serve({ [name]: (kind === 'vast' ? adFrom : bidFrom)(server.url, name) });
    await call('POST', 'advertisers', { name, domain: `${name}.example`, categories: [] });
    const url = `${server.url}/${delayMs}/${name}`;
    const { id } = await addSource(
      service,
      placement,
      { kind, url },
      { review: 'automatic', allowed_domains: [`${name}.example`] },
    );
    await decide(placement);
    await waitForApproval(id);
  }
}

/** Runs `work` with a new placement that has a house ad and three sources that never respond. */
export async function withHangingSources<T>(
  service: RunningService,
  server: SourceServer,
  work: () => Promise<T>,
): Promise<T> {
  const { call } = createDemand(service);
  const added: Source[] = [];
  for (const kind of ['vast', 'openrtb', 'vast'] as const) {
    const url = `${server.url}/never/${sources}`;
    added.push(await addSource(service, hanging, { kind, url }, { timeout_ms: 5_000 }));
  }
  try {
    return await work();
  } finally {
    for (const { id } of added) await call('PATCH', `sources/${id}`, { status: 'paused' });
  }
}
