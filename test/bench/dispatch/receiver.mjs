/** The webhook receiver. It runs in a separate process, verifies signatures, and counts the deliveries for each cause. */
import { createHmac, timingSafeEqual } from 'node:crypto';
import { createServer } from 'node:http';

const responseMs = 50;

export async function openReceiver() {
  let key = Buffer.alloc(0);
  let isWanted = () => false;
  let counts = new Map();
  let rejected = 0;
  let open = 0;
  let waiters = [];

  const receive = (request, body) => {
    const { 'webhook-id': id, 'webhook-timestamp': timestamp } = request.headers;
    const expected = Buffer.from(
      createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64'),
    );
    const signatures = String(request.headers['webhook-signature']).split(' ');
    const isSigned = signatures.some((signature) => {
      const actual = Buffer.from(signature.replace(/^v1,/, ''));
      return actual.length === expected.length && timingSafeEqual(actual, expected);
    });
    if (!isSigned) {
      rejected += 1;
      return 400;
    }
    const cause = JSON.parse(body).data.decision_id;
    if (!isWanted(cause)) return 200;
    counts.set(cause, (counts.get(cause) ?? 0) + 1);
    waiters = waiters.filter(({ count, resolve }) => {
      if (counts.size < count) return true;
      resolve({ open });
      return false;
    });
    return 200;
  };

  const server = createServer({ keepAliveTimeout: 60_000 }, (request, response) => {
    open += 1;
    response.once('close', () => (open -= 1));
    let body = '';
    request.setEncoding('utf8');
    request.on('data', (chunk) => (body += chunk));
    request.on('end', () => {
      const status = receive(request, body);
      setTimeout(() => response.writeHead(status).end(), responseMs);
    });
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address();

  return {
    url: () => `http://127.0.0.1:${port}/webhooks`,
    /** Resets the counts. From now on, only this run's causes are counted. */
    begin(secret, run) {
      key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64');
      isWanted = (cause) => typeof cause === 'string' && cause.startsWith(`dec_${run}_`);
      counts = new Map();
      rejected = 0;
      waiters = [];
    },
    /** Waits until this many distinct causes have arrived. Returns the number of requests in flight at that moment. */
    waitForArrivals: (count) =>
      counts.size >= count ? { open } : new Promise((resolve) => waiters.push({ count, resolve })),
    result: () => ({ counts: Object.fromEntries(counts), rejected }),
  };
}
