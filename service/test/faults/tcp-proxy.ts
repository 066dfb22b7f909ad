import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** A network between two programs that can be disturbed. */
export interface TcpProxy {
  port: number;
  /** Breaks every connection; new ones are taken. */
  cut(): void;
  /** Swallows everything, as a lost route does: nobody is told anything. */
  stall(): void;
  /** Keeps back what the server sends by so many milliseconds. */
  delay(ms: number): void;
  /** As at the beginning. */
  heal(): void;
  close(): Promise<void>;
}

/** Starts a proxy before a port of this machine. */
export async function startTcpProxy(targetPort: number): Promise<TcpProxy> {
  const pairs = new Set<[Socket, Socket]>();
  let stalled = false;
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
    // What is swallowed is gone for good, so that the connection has to be given up.
    client.on('data', (chunk) => void (stalled || target.write(chunk)));
    target.on('data', (chunk) => {
      if (stalled) return;
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
      stalled = true;
    },
    delay(ms) {
      delayMs = ms;
    },
    heal() {
      stalled = false;
      delayMs = 0;
    },
    async close() {
      cut();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
