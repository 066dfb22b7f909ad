import { setTimeout as sleep } from 'node:timers/promises';
import type { Creative } from '@trueward/protocol/wire';
import type { RunningService } from './start-service.ts';

type Sandbox = Pick<RunningService, 'url' | 'keys'>;
interface NamedResource {
  id: string;
  name: string;
}

/** Creates helpers that change the demo account via the HTTP API. */
export function createDemand({ url, keys }: Sandbox) {
  const headers = {
    authorization: `Bearer ${keys.sandbox.secret}`,
    'content-type': 'application/json',
  };
  const call = async <T>(method: string, path: string, body?: object): Promise<T> => {
    const response = await fetch(`${url}/v1/${path}`, {
      method,
      headers,
      ...(body && { body: JSON.stringify(body) }),
    });
    if (!response.ok)
      throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`);
    return (response.status === 204 ? undefined : await response.json()) as T;
  };
  const find = async (kind: string, name: string): Promise<NamedResource> => {
    const { data } = await call<{ data: NamedResource[] }>('GET', `${kind}?limit=100`);
    const resource = data.find((item) => item.name === name);
    if (!resource) throw new Error(`The demo account has no ${kind} named ${name}.`);
    return resource;
  };
  return {
    call,
    find,
    /** Resolves when an external source's first creative has been copied and approved. */
    async waitForApproval(sourceId: string): Promise<void> {
      const deadlineMs = performance.now() + 30_000;
      while (performance.now() < deadlineMs) {
        const { data } = await call<{ data: Creative[] }>('GET', 'creatives?limit=100');
        const creative = data.find(({ source_id: id }) => id === sourceId);
        if (creative?.review.status === 'approved') return;
        await sleep(50);
      }
      throw new Error(`No creative from ${sourceId} was approved within 30 s.`);
    },
    /** Updates the resource with this name. */
    async change(kind: string, name: string, body: object): Promise<void> {
      await call('PATCH', `${kind}/${(await find(kind, name)).id}`, body);
    },
    /** Adds an approved creative to the demo account's house-ad source. */
    async addCreative(name: string, media: object): Promise<void> {
      const [source, advertiser] = [
        await find('sources', 'House'),
        await find('advertisers', 'Meadow'),
      ];
      const { id } = await call<NamedResource>('POST', 'creatives', {
        name,
        advertiser_id: advertiser.id,
        source_id: source.id,
        media,
        click_url: 'https://meadow.example/',
        alt: 'A short film.',
      });
      await call('POST', `creatives/${id}/review`, { status: 'approved' });
    },
    /** Adds a placement that shows only this creative. The player can close its ads immediately. */
    async addPlacement(
      creative: string,
      placement: { name: string; format: string; min_view_ms: number; reward?: object },
    ): Promise<void> {
      await call('POST', 'placements', {
        close_after_ms: 0,
        ...(placement.format === 'rewarded' && { reward: { type: 'coins', amount: 25 } }),
        ...placement,
      });
      const { id } = await find('creatives', creative);
      const { name } = placement;
      await call('POST', 'house-ads', { name, creative_id: id, placements: [name] });
    },
  };
}
