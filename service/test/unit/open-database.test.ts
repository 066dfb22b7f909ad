import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { DatabaseConnectionError, openDatabase } from '../../src/store/open-database.ts';

test('a database is tried once before it is given up', async () => {
  let connections = 0;
  const server = createServer((socket) => {
    connections += 1;
    socket.destroy();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;
  const databaseUrl = `postgres://user@127.0.0.1:${port}/trueward`;
  const databaseLimits = { connections: 1, lockTimeoutMs: 1_000, statementTimeoutMs: 1_000 };
  const opening = openDatabase(
    { databaseUrl, databaseLimits, dataDirectory: '' } as never,
    { onError: () => {}, onInitialize: () => {} } as never,
  );
  await expect(opening).rejects.toBeInstanceOf(DatabaseConnectionError);
  expect(connections).toBe(1);
});
