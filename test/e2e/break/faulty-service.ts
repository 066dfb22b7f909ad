import { readFile } from 'node:fs/promises';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { extname, join } from 'node:path';
import { text } from 'node:stream/consumers';
import type { Decision, DecisionRequest, EventBatch, Media } from '../../../protocol/wire.ts';

const root = join(import.meta.dirname, '../../..');
const creatives = join(root, 'demo/creatives/dist');

const mimes: Record<string, string> = {
  '.mp4': 'video/mp4',
  '.webm': 'video/webm',
  '.png': 'image/png',
  '.jpg': 'image/jpeg',
  '.html': 'text/html; charset=utf-8',
  '.vtt': 'text/vtt; charset=utf-8',
};

const createVideoMedia = (origin: string, name: string): Media => ({
  format: 'video',
  files: [{ url: `${origin}/media/${name}`, mime: 'video/webm', width: 640, height: 360 }],
  duration_ms: 12_000,
});
const createHtmlMedia = (origin: string, name: string): Media => ({
  format: 'html',
  url: `${origin}/creative/${name}.html`,
  width: 640,
  height: 360,
});

/** The ads' media, keyed by placement name. */
const media: Record<string, (origin: string) => Media> = {
  video: (origin) => ({
    ...(createVideoMedia(origin, 'meadow.webm') as Extract<Media, { format: 'video' }>),
    poster: `${origin}/media/meadow-poster.jpg`,
    captions: [{ url: `${origin}/captions.vtt`, language: 'en', label: 'English' }],
  }),
  image: (origin) => ({
    format: 'image',
    files: [{ url: `${origin}/media/harbour.png`, mime: 'image/png', width: 1200, height: 675 }],
  }),
  html: (origin) => ({
    format: 'html',
    url: `${origin}/media/lantern.html`,
    width: 640,
    height: 360,
  }),
  inline: () => ({
    format: 'html',
    inline: `<!doctype html><script>onmessage = ({ ports: [port] }) => port.postMessage({ type: 'ready' })</script>`,
    width: 640,
    height: 360,
  }),
  external: (origin) => createVideoMedia(origin, 'meadow.webm'),
  missing: (origin) => createVideoMedia(origin, 'missing.webm'),
  'wrong-type': (origin) => createVideoMedia(origin, 'lantern.html'),
  broken: (origin) => createVideoMedia(origin, 'broken.webm'),
  stalling: (origin) => createVideoMedia(origin, 'stalling.webm'),
};

/** Ways in which an HTML creative can try to leave its page, once it is on the screen. */
const exits = {
  location: `location.href = 'mute.html'`,
  replace: `location.replace('data:text/html,gone')`,
  reload: `location.reload()`,
  link: `const link = document.createElement('a'); link.href = 'mute.html'; document.body.append(link); link.click()`,
  refresh: `document.head.innerHTML = '<meta http-equiv="refresh" content="0;url=mute.html">'`,
  write: `document.open(); document.write('gone'); document.close()`,
  form: `document.body.innerHTML = '<form action="mute.html">'; document.forms[0].submit()`,
  target: `document.body.innerHTML = '<form action="mute.html" target="_top">'; document.forms[0].submit(); open('mute.html', '_top')`,
  history: `history.go(-1)`,
};

/** HTML creatives that leave their page while it loads, so that the frame reports only one page. */
const earlyExits: Record<string, string> = {
  early: `<script>location.href = 'ready.html'</script>`,
  busy: `<script>location.href = 'ready.html'; for (const start = Date.now(); Date.now() - start < 500;);</script>`,
  'early-refresh': `<meta http-equiv="refresh" content="0;url=ready.html">`,
};

/** The faulty HTML creatives' scripts. */
const scripts: Record<string, string> = {
  ...Object.fromEntries(
    Object.entries(exits).map(([name, leave]) => [
      name,
      `port.onmessage = ({ data }) => { if (data.type === 'viewable') { ${leave} } }; port.postMessage({ type: 'ready' })`,
    ]),
  ),
  mute: '',
  ready: `port.postMessage({ type: 'ready' })`,
  throwing: `port.postMessage({ type: 'ready' }); throw new Error('an error in the creative')`,
  flooding: `port.postMessage({ type: 'ready' }); setInterval(() => { for (let i = 0; i < 1e3; i++) port.postMessage({ type: "click" }) })`,
  navigating: `try { top.location = 'about:blank' } catch {} port.postMessage({ type: 'ready' }); setInterval(() => { try { top.location = 'about:blank' } catch {} }, 50)`,
  popping: `open('about:blank'); setInterval(() => open('about:blank'), 50); port.postMessage({ type: 'ready' })`,
  claiming: `port.postMessage({ type: 'ready' }); setInterval(() => { for (const target of [parent, top]) for (const type of ['ready', 'ended', 'complete', 'close']) target.postMessage({ trueward: 1, type, watchedMs: 9e9, durationMs: 1 }, '*') }, 20); for (const type of ['ended', 'progress', 'painted', 'viewed', 'clicked']) port.postMessage({ type, watchedMs: 9e9, durationMs: 1 })`,
  asking: `const link = document.createElement('a'); link.href = 'data:application/zip,a'; link.download = 'a.zip'; port.postMessage({ type: 'ready' }); setInterval(() => { link.click(); alert('a'); confirm('b'); prompt('c'); print() }, 50)`,
  grabbing: `const field = document.body.appendChild(document.createElement('input')); port.postMessage({ type: 'ready' }); setInterval(() => { field.focus(); window.focus(); top.focus(); void field.requestPointerLock?.(); field.requestFullscreen?.().catch(() => {}); top.close() }, 20)`,
  rewriting: `port.postMessage({ type: 'ready' }); for (let i = 0; i < 9; i++) history.pushState({}, '', '#' + i); history.go(-4); location.hash = 'a'`,
  reading: `try { parent.document.title = 'read' } catch { port.postMessage({ type: 'ready' }) }`,
};

/** Responds the way the service does. The placement selects the fault. */
export async function respondAsService(
  request: IncomingMessage,
  response: ServerResponse,
  origin: string,
): Promise<void> {
  const { pathname } = new URL(request.url ?? '/', origin);
  response.setHeader('access-control-allow-origin', '*');
  response.setHeader('access-control-allow-headers', 'Authorization, Content-Type, Decision-Token');
  if (request.method === 'OPTIONS') return void response.end();
  if (pathname.startsWith('/media/')) return sendMedia(request, response, pathname.slice(7));
  if (pathname === '/captions.vtt') {
    response.setHeader('content-type', 'text/vtt');
    return void response.end('WEBVTT\n\n00:00.000 --> 00:12.000\nWind over the meadow.\n');
  }
  const script = /^\/creative\/(.+)\.html$/.exec(pathname)?.[1];
  if (script !== undefined) {
    response.setHeader('content-type', 'text/html; charset=utf-8');
    return void response.end(
      earlyExits[script] ??
        `<!doctype html><body><script>onmessage = ({ ports: [port] }) => { ${scripts[script]} }</script>`,
    );
  }
  response.setHeader('content-type', 'application/json');
  response.end(JSON.stringify(await createResponse(pathname, request, origin)));
}

let count = 0;

const findMedia = (placement: string, origin: string): Media | undefined =>
  Object.hasOwn(scripts, placement) || Object.hasOwn(earlyExits, placement)
    ? createHtmlMedia(origin, placement)
    : (media[placement] ?? media['image'])?.(origin);

async function createResponse(
  pathname: string,
  request: IncomingMessage,
  origin: string,
): Promise<object> {
  if (pathname === '/v1/decisions')
    return decide(JSON.parse(await text(request)) as DecisionRequest, origin);
  if (pathname === '/v1/events') {
    const { events } = JSON.parse(await text(request)) as EventBatch;
    const watched = new Set(
      events.filter(({ type }) => type === 'complete').map((event) => event.decision_id),
    );
    return {
      results: events.map(({ id }) => ({ id, status: 'accepted' })),
      decisions: [...watched].map((id) => ({ id, state: 'earned' })),
    };
  }
  return { id: pathname.split('/').at(-1), state: 'pending' };
}

function decide({ placement }: DecisionRequest, origin: string): Decision {
  count += 1;
  return {
    id: `dec_${String(count).padStart(26, '0')}`,
    status: 'filled',
    placement,
    format: 'rewarded',
    creative: {
      id: 'crv_01jabcdefghjkmnpqrstvwxyz0',
      media: findMedia(placement, origin) as Media,
      alt: 'Meadow, a quiet game about sheep and the wind',
      click_url: 'https://advertiser.example/',
      ...(placement === 'external' && {
        advertiser: 'Meadow Games',
        icon: { url: `${origin}/media/harbour.png`, width: 77, height: 15 },
        skip_after_ms: 500,
      }),
    },
    reward: { type: 'coins', amount: 50 },
    min_watch_ms: 1_000,
    close_after_ms: 500,
    token: 'token',
    issued_at: new Date().toISOString(),
    expires_at: new Date(Date.now() + 60_000).toISOString(),
  };
}

/**
 * Sends a media file. `stalling` sends the first two seconds (one sixth) and then no more data. In `broken`, the second
 * half is garbage.
 */
async function sendMedia(
  request: IncomingMessage,
  response: ServerResponse,
  name: string,
): Promise<void> {
  const isFaulty = name === 'stalling.webm' || name === 'broken.webm';
  const contents = await readFile(join(creatives, isFaulty ? 'meadow.webm' : name)).catch(
    () => undefined,
  );
  if (contents === undefined) return void response.writeHead(404).end();
  if (name === 'broken.webm') contents.fill(0xa5, Math.floor(contents.length / 2));
  response.setHeader('content-type', mimes[extname(name)] ?? 'text/plain');
  if (name === 'stalling.webm') {
    response.setHeader('content-length', contents.length);
    response.write(contents.subarray(0, Math.floor(contents.length / 6)));
    return;
  }
  response.setHeader('accept-ranges', 'bytes');
  const startByte = Number(/^bytes=(\d+)-/.exec(request.headers.range ?? '')?.[1] ?? 0);
  if (request.headers.range !== undefined)
    response.writeHead(206, {
      'content-range': `bytes ${startByte}-${contents.length - 1}/${contents.length}`,
    });
  response.end(contents.subarray(startByte));
}
