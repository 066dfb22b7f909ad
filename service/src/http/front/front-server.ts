import { Server, type RequestListener, type ServerOptions } from 'node:http';
import type { Socket } from 'node:net';
import { Connection } from './connection.ts';
import { NodeSide } from './node-side.ts';
import type { PlainHandler } from './plain-exchange.ts';

interface Options extends ServerOptions {
  keepAliveTimeout: number;
}

/** As `node:http` gives a request (`headersTimeout`). */
const bodyWithinMs = 60_000;
/** So often a connection is looked at before it is taken for idle. */
const looks = 8;

/**
 * A server of `node:http` that answers plain requests itself. An empty exchange costs `node:http`
 * twice the processor time of what is done here: most of it goes into two streams and the objects
 * of each request, which nobody needs who has the whole of it in one piece.
 */
export class FrontServer extends Server {
  /** What answers plain requests; none before it is set. */
  plain: PlainHandler | undefined;
  readonly #connections = new Set<Connection>();

  constructor(options: Options, listener: RequestListener) {
    super(options, (request, response) => {
      const side: unknown = request.socket;
      if (side instanceof NodeSide) side.asked(response);
      listener(request, response);
    });
    const nodes = this.listeners('connection');
    this.removeAllListeners('connection');
    const parts = {
      plain: () => this.plain,
      idleMs: options.keepAliveTimeout,
      bodyWithinMs,
      nowMs: () => Date.now(),
      toNode: (side: NodeSide) => {
        for (const node of nodes) node.call(this, side);
      },
    };
    const looking = setInterval(() => {
      for (const connection of this.#connections) connection.look(looks);
    }, options.keepAliveTimeout / looks);
    looking.unref();
    this.once('close', () => clearInterval(looking));
    this.on('connection', (accepted: Socket) => {
      const connection = new Connection(accepted, parts);
      this.#connections.add(connection);
      connection.socket.once('close', () => this.#connections.delete(connection));
    });
  }

  /** Whoever is connected. */
  get clients(): ReadonlySet<Connection> {
    return this.#connections;
  }

  override closeIdleConnections(): void {
    for (const connection of this.#connections) connection.closeIfIdle();
  }

  override closeAllConnections(): void {
    for (const connection of this.#connections) connection.destroy();
  }
}
