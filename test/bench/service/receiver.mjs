/**
 * Simulates a customer server in a separate process. `/50/…` responds after 50 ms, `/0/…` immediately, and `/never/…`
 * never. Reports arrivals to the parent process every 20 ms.
 */
import { createServer } from 'node:http';

let arrivals = [];
const server = createServer((request, response) => {
  const atMs = Number(process.hrtime.bigint()) / 1e6;
  const [, delay] = request.url.split('/');
  let body = '';
  request.setEncoding('utf8');
  request.on('data', (chunk) => (body += chunk));
  request.on('end', () => {
    if (delay === 'never') return;
    arrivals.push({ path: request.url, atMs, decisionId: JSON.parse(body).data?.decision_id });
    if (delay === '0') response.end();
    else setTimeout(() => response.end(), Number(delay));
  });
});
server.keepAliveTimeout = 60_000;
server.listen(0, '127.0.0.1', () => {
  process.send({ url: `http://127.0.0.1:${server.address().port}` });
});
setInterval(() => {
  if (arrivals.length > 0) process.send({ arrivals });
  arrivals = [];
}, 20);
process.on('disconnect', () => process.exit());
