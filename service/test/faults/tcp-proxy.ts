import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** A proxy that simulates network failures between two programs. */
export interface TcpProxy {
  port: number;
  /** Breaks every open connection. New connections are still accepted. */
  cut(): void;
  /** Silently drops all data, as a network partition would. */
  stall(): void;
  /** Delays everything that the server sends by this many milliseconds. */
  delay(ms: number): void;
  /** Ends a stall or a delay. */
  heal(): void;
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
    // A connection that was stalled can't be used again, because the dropped bytes are lost.
    client.on('data', (chunk) => void (isStalled || target.write(chunk)));
    target.on('data', (chunk) => {
      if (isStalled) return;
      if (delayMs === 0) client.write(chunk);
      else setTimeout(() => client.writable && client.write(chunk), delayMs);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const cut = (): void => {
    for (const pair of pairs) for (const socket of pair) socket.destroy();
  };
  return {
    port: (server.address() as AddressInfo).port,
    cut,
    stall() {
      isStalled = true;
    },
    delay(ms) {
      delayMs = ms;
    },
    heal() {
      isStalled = false;
      delayMs = 0;
    },
    async close() {
      cut();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
