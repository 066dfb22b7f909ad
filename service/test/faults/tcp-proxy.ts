import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** A proxy that simulates network failures between two programs. */
export interface TcpProxy {
  port: number;
  /** Resets all open connections. The proxy continues to accept new ones. */
  resetConnections(): void;
  /** Silently drops all data, as a network partition would. */
  stall(): void;
  /** Delays the data from the server by this many milliseconds. */
  delay(ms: number): void;
  /** Ends a stall or a delay. */
  restore(): void;
  close(): Promise<void>;
}

/** Starts a proxy for a port on this machine. */
export async function startTcpProxy(targetPort: number): Promise<TcpProxy> {
  const pairs = new Set<[Socket, Socket]>();
  let isStalled = false;
  let delayMs = 0;
  const server = createServer((client) => {
    const target = connect(targetPort, '127.0.0.1');
    const pair: [Socket, Socket] = [client, target];
    pairs.add(pair);
    const end = (): void => {
      pairs.delete(pair);
      for (const socket of pair) socket.destroy();
    };
    for (const socket of pair) socket.on('close', end).on('error', end);
    // A stalled connection is unusable afterward, because it has lost bytes.
    client.on('data', (chunk) => void (isStalled || target.write(chunk)));
    target.on('data', (chunk) => {
      if (isStalled) return;
      if (delayMs === 0) client.write(chunk);
      else setTimeout(() => client.writable && client.write(chunk), delayMs);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const resetConnections = (): void => {
    for (const pair of pairs) for (const socket of pair) socket.destroy();
  };
  return {
    port: (server.address() as AddressInfo).port,
    resetConnections,
    stall() {
      isStalled = true;
    },
    delay(ms) {
      delayMs = ms;
    },
    restore() {
      isStalled = false;
      delayMs = 0;
    },
    async close() {
      resetConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
