/**
 * The least that a durable answer takes: an echo that stores the body in a table of two columns, many
 * together in one statement, and answers when that is committed. It checks, decides and signs nothing.
 */
import { createServer } from 'node:http';
import pg from 'pg';

const database = new pg.Client({ connectionString: process.argv[2] });
await database.connect();
await database.query('CREATE TABLE echoes (id bigint PRIMARY KEY, body text NOT NULL)');
const insert = {
  name: 'insert',
  text: 'INSERT INTO echoes SELECT unnest($1::bigint[]), unnest($2::text[])',
};

let lastId = 0;
let waiting = [];
let running = false;

async function store() {
  running = true;
  await new Promise(setImmediate);
  while (waiting.length > 0) {
    const batch = waiting;
    waiting = [];
    await database.query({
      ...insert,
      values: [batch.map(({ id }) => id), batch.map(({ body }) => body.toString())],
    });
    for (const { body, response } of batch) {
      response.writeHead(200, {
        'content-type': 'application/json',
        'content-length': body.length,
      });
      response.end(body);
    }
  }
  running = false;
}

const server = createServer((request, response) => {
  const chunks = [];
  request.on('data', (chunk) => chunks.push(chunk));
  request.on('end', () => {
    waiting.push({ id: (lastId += 1), body: Buffer.concat(chunks), response });
    if (!running) void store();
  });
});
server.listen(0, '127.0.0.1', () => {
  console.log(JSON.stringify({ url: `http://127.0.0.1:${server.address().port}` }));
});
