import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { expect, test } from 'vitest';
import { openPostgres } from '../../src/store/postgres.ts';
import { createPostgresDatabase, hasPostgres } from '../postgres-database.ts';

test.skipIf(!hasPostgres)(
  'losing a connection during a transaction does not crash the process',
  async () => {
    let onError: (error: Error) => void = () => undefined;
    const connectionError = new Promise<Error>((resolve) => (onError = resolve));
    const database = openPostgres(await createPostgresDatabase(), (error) => onError(error));
    const transaction = database.transaction(async (queries) => {
      const [row] = await queries.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
      await database.query('SELECT pg_terminate_backend($1)', [row?.pid]);
      await connectionError;
      await queries.query('SELECT 1');
    });
    await expect(transaction).rejects.toThrow(/terminat|not queryable|connection/i);
    expect(await database.query('SELECT 1 AS one')).toEqual([{ one: 1 }]);
    await database.close();
  },
);

test('losing a connection just after it is established does not crash the process', async () => {
  // A real server shuts down in this instant too rarely to test, so a fake one accepts a connection and reports the
  // shutdown in a single write.
  const authenticated = Buffer.from('R\0\0\0\x08\0\0\0\0', 'latin1');
  const ready = Buffer.from('Z\0\0\0\x05I', 'latin1');
  const shutdown = Buffer.from('E\0\0\0\x16SFATAL\0C57P01\0\0', 'latin1');
  shutdown.writeUInt32BE(shutdown.length - 1, 1);
  const server = createServer((socket) => {
    socket.on('error', () => undefined);
    socket.once('data', () => socket.end(Buffer.concat([authenticated, ready, shutdown])));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const database = openPostgres(`postgres://user@127.0.0.1:${port}/database`, () => undefined);
  await expect(database.query('SELECT 1')).rejects.toThrow(/terminated|not queryable|57P01/i);
  await database.close();
  server.close();
});
