/**
 * Simulates a customer's server, parts of which fail, in a separate process. The parent process sets its behavior. Reports
 * each request every 20 ms: its time, and the event that it accepted, if it did.
 */
import { createServer } from 'node:http';

const respondAfter = (response, status, ms) =>
  setTimeout(() => {
    response.statusCode = status;
    response.end();
  }, ms);
/** What to do with a request. Hung requests never get a response. */
const behaviors = {
  well: () => ({ status: 200, ms: 50 }),
  shaky: () => {
    const share = Math.random();
    if (share < 0.11) return { status: 503, ms: 0 };
    return share < 0.14 ? undefined : { status: 200, ms: 50 };
  },
  third: () => (Math.random() < 1 / 3 ? undefined : { status: 200, ms: 50 }),
  half: () => (Math.random() < 1 / 2 ? undefined : { status: 200, ms: 50 }),
  rising: () => ({ status: 200, ms: 50 * Math.max(1, inFlight / 10) }),
  failing: () => ({ status: 503, ms: 0 }),
};
let behavior = 'well';
let inFlight = 0;
let requests = [];
const server = createServer((request, response) => {
  inFlight += 1;
  response.once('close', () => (inFlight -= 1));
  request.resume();
  request.once('end', () => {
    const answer = behaviors[behavior]();
    const atMs = Number(process.hrtime.bigint()) / 1e6;
    const accepted = answer?.status === 200 ? request.headers['webhook-id'] : undefined;
    requests.push({ atMs, accepted });
    if (answer) respondAfter(response, answer.status, answer.ms);
  });
});
server.keepAliveTimeout = 60_000;
server.listen(0, '127.0.0.1', () => {
  process.send({ url: `http://127.0.0.1:${server.address().port}` });
});
setInterval(() => {
  if (requests.length > 0) process.send({ requests });
  requests = [];
}, 20);
process.on('message', (message) => (behavior = message));
process.on('disconnect', () => process.exit());
