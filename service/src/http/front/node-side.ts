import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { Duplex } from 'node:stream';

interface Written {
  chunk: string | Buffer;
  encoding: BufferEncoding;
}

/**
 * What `node:http` takes for the socket of a client: it reads here what is for it, and writes to the
 * real one.
 */
export class NodeSide extends Duplex {
  readonly #socket: Socket;
  readonly #onAnswered: () => void;
  /** Whether all that comes is for `node:http`. */
  alone = false;
  #unanswered = 0;

  constructor(socket: Socket, onAnswered: () => void) {
    super({ decodeStrings: false });
    this.#socket = socket;
    this.#onAnswered = onAnswered;
  }

  get remoteAddress(): string | undefined {
    return this.#socket.remoteAddress;
  }
  get remotePort(): number | undefined {
    return this.#socket.remotePort;
  }

  /** What the client sent, which the next read overwrites. */
  receive(chunk: Buffer): void {
    if (!this.push(Buffer.from(chunk))) this.#socket.pause();
  }

  get isIdle(): boolean {
    return this.#unanswered === 0;
  }

  /** `node:http` has a request, and `response` to answer it with. */
  asked(response: ServerResponse): void {
    this.#unanswered += 1;
    response.once('close', () => {
      this.#unanswered -= 1;
      this.#onAnswered();
    });
  }

  /** How long a client may be silent between two requests is seen to by its connection. */
  setTimeout(): this {
    return this;
  }

  /** `node:http` has no more use for the connection. */
  destroySoon(): void {
    this.end(() => this.#socket.destroySoon());
  }

  override _read(): void {
    this.#socket.resume();
  }

  /**
   * Done at once, as with a socket: the second of two answers that `node:http` writes before it finds
   * an error in what follows, and destroys this, would be lost otherwise.
   */
  override _write(chunk: string | Buffer, encoding: BufferEncoding, done: () => void): void {
    if (this.#socket.write(chunk, encoding)) done();
    else this.#socket.once('drain', done);
  }

  /** Head and body of an answer go out in one packet. */
  override _writev(chunks: Written[], done: () => void): void {
    this.#socket.cork();
    for (const { chunk, encoding } of chunks) this.#socket.write(chunk, encoding);
    this.#socket.uncork();
    if (this.#socket.writableNeedDrain) this.#socket.once('drain', done);
    else done();
  }

  override _final(done: () => void): void {
    this.#socket.end(done);
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    this.#socket.destroy();
    done(error);
  }
}
