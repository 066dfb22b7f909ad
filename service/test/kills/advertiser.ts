import { readFileSync } from 'node:fs';
import { createServer, type RequestListener, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import { inline, mp4, tags, tracking, vast } from '../unit/vast/fixtures.ts';

/**
 * An HTTP server that serves bids and media, and receives tracker requests and webhooks. Some tracker requests fail.
 */
export interface Advertiser {
  bidUrl: string;
  /** A URL that redirects to the host and path that the client appends to it. */
  redirectUrl: string;
  webhookUrl: string;
  /** The number of requests for each tracker path. For example, `/7/impression` belongs to the seventh bid. */
  requests: ReadonlyMap<string, number>;
  /** The tracker paths for which the server returned a successful response. */
  confirmedPaths: ReadonlySet<string>;
  /** The decision ids in the received `decision.rewarded` events. */
  rewardedIds: ReadonlySet<string>;
  /** The received webhook bodies. */
  webhooks: readonly string[];
  close(): Promise<void>;
}

export const domain = 'shop.example';
/** The bid price: a CPM in US dollars. */
export const price = 7.654321;
/** The media file's duration. */
export const mediaMs = 3_000;
const [media, icon] = ['clip.mp4', 'picture.png'].map((name) =>
  readFileSync(fileURLToPath(new URL(`../../../test/media/${name}`, import.meta.url))),
);

/** The events for which each ad has a tracker. */
export const trackedEvents = [
  'impression',
  'start',
  'firstQuartile',
  'midpoint',
  'thirdQuartile',
  'complete',
];

/** One in this many bids has a tracker whose host never responds to the first request for each URL. */
const hangingBidInterval = 250;

export async function startAdvertiser(): Promise<Advertiser> {
  const requests = new Map<string, number>();
  const confirmedPaths = new Set<string>();
  const rewardedIds = new Set<string>();
  const webhooks: string[] = [];
  let bids = 0;

  const confirm = (path: string, response: ServerResponse): void => {
    confirmedPaths.add(path);
    response.writeHead(204).end();
  };
  const respondToTracker = (path: string, response: ServerResponse): void => {
    const count = (requests.get(path) ?? 0) + 1;
    requests.set(path, count);
    const fault = chooseFault(path);
    // The second request for a billing notice always succeeds.
    if (fault === undefined || count > 1) confirm(path, response);
    else if (fault === 'reset') response.socket?.destroy();
    else if (fault === 'error') response.writeHead(500).end();
    else response.writeHead(302, { location: `/landed${path}` }).end();
  };
  const servers = [
    await startServer((request, response) => {
      const path = request.url ?? '';
      if (path === '/clip.mp4') return response.setHeader('content-type', 'video/mp4').end(media);
      if (path === '/icon.png') return response.setHeader('content-type', 'image/png').end(icon);
      if (path.startsWith('/redirect/')) {
        const location = path.replace('/redirect/', 'http://');
        return response.writeHead(302, { location }).end();
      }
      if (path.startsWith('/landed/')) return confirm(path.slice('/landed'.length), response);
      if (request.method !== 'POST') return respondToTracker(path, response);
      let body = '';
      request.on('data', (chunk: Buffer) => (body += chunk.toString()));
      request.on('end', () => {
        const json = JSON.parse(body) as { id: string; data?: { decision_id?: string } };
        if (path === '/bid') return response.end(createBidResponse(json.id, (bids += 1), urls));
        webhooks.push(body);
        rewardedIds.add(json.data?.decision_id ?? '');
        return response.writeHead(204).end();
      });
    }),
    await startServer(({ url = '' }, response) => {
      const count = (requests.get(url) ?? 0) + 1;
      requests.set(url, count);
      if (count > 1) confirm(url, response);
    }),
  ] as const;
  const urls = { normal: servers[0].url, hanging: servers[1].url };
  return {
    bidUrl: `${urls.normal}/bid`,
    redirectUrl: `${urls.normal}/redirect/`,
    webhookUrl: `${urls.normal}/webhooks`,
    requests,
    confirmedPaths,
    rewardedIds,
    webhooks,
    async close() {
      await Promise.all(servers.map((server) => server.close()));
    },
  };
}

/**
 * Chooses a tracker URL's fault. Of every hundred URLs, three reset the connection, three return an error and three
 * redirect.
 */
function chooseFault(path: string): 'reset' | 'error' | 'redirect' | undefined {
  const [, bid, event] = path.split('/');
  const share = (Number(bid) * 7 + trackedEvents.indexOf(event ?? '') * 13) % 100;
  return share < 0
    ? undefined
    : ([undefined, 'reset', 'error', 'redirect'] as const)[
        share < 9 ? Math.floor(share / 3) + 1 : 0
      ];
}

function createBidResponse(
  id: string,
  bid: number,
  { normal, hanging }: { normal: string; hanging: string },
): string {
  const chooseOrigin = (event: string): string => {
    const isHanging =
      event === 'midpoint'
        ? bid % hangingBidInterval === 7
        : event === 'burl' && bid % hangingBidInterval === 8;
    return isHanging ? hanging : normal;
  };
  const createTrackerUrl = (event: string): string => `${chooseOrigin(event)}/${bid}/${event}`;
  const [impression = '', ...events] = trackedEvents;
  const adm = vast(
    inline({
      body: tags('Impression', createTrackerUrl(impression)),
      duration: '00:00:03',
      media: mp4('', `${normal}/clip.mp4`),
      clicks:
        tags('ClickThrough', `https://${domain}/`) +
        tags('ClickTracking', createTrackerUrl('click')),
      icons: `<Icon program="AdChoices" width="32" height="18" xPosition="left" yPosition="top"><StaticResource creativeType="image/png"><![CDATA[${normal}/icon.png]]></StaticResource></Icon>`,
      tracking: events.map((event) => tracking(event, createTrackerUrl(event))).join(''),
    }),
  );
  const burl = createTrackerUrl('burl');
  const bidObject = {
    id: `bid-${bid}`,
    impid: '1',
    price,
    crid: 'clip',
    adomain: [domain],
    mtype: 2,
    adm,
    burl,
  };
  return JSON.stringify({ id, cur: 'USD', seatbid: [{ bid: [bidObject] }] });
}

async function startServer(listener: RequestListener) {
  const server = createServer(listener);
  // With a shorter timeout, the server could close an idle connection just as the client sends a request on it.
  server.keepAliveTimeout = 600_000;
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
