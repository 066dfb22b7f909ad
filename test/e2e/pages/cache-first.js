// A service worker that answers every GET request from its cache, as some games' workers do. The cache also holds what
// an earlier request would have left there: a reward that is still pending, and a service that is well.
addEventListener('install', () => skipWaiting());
addEventListener('activate', (event) => event.waitUntil(clients.claim()));
addEventListener('fetch', (event) => event.respondWith(respond(event.request)));

async function respond(request) {
  const cache = await caches.open('everything');
  const { origin, pathname } = new URL(request.url);
  await cache.put(`${origin}/healthz`, Response.json({ status: 'ok' }));
  if (request.method === 'GET') {
    const response = (await cache.match(request)) ?? (await fetch(request));
    if (response.ok && response.type !== 'opaque') await cache.put(request, response.clone());
    return response;
  }
  const response = await fetch(request);
  if (!pathname.startsWith('/v1/') || !response.ok) return response;
  const body = await response.json();
  if (pathname === '/v1/decisions')
    for (const seconds of [0, 25])
      await cache.put(
        `${origin}/v1/decisions/${body.id}?wait_s=${seconds}`,
        Response.json({ id: body.id, state: 'pending' }),
      );
  // The page must ask for the reward's state.
  if (pathname === '/v1/events') body.decisions = [];
  return Response.json(body);
}
