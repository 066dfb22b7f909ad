import type { Socket } from 'node:net';
import { NodeSide } from './node-side.ts';
import type { PlainAnswer, PlainHandler } from './plain-exchange.ts';
import { type Head, readHead } from './read-head.ts';
import { readShared } from './shared-read.ts';
import { writeAnswer } from './write-answer.ts';

interface Parts {
  /** Undefined while the application is being put together. */
  plain(): PlainHandler | undefined;
  /** Hands a connection to `node:http`. */
  toNode(side: NodeSide): void;
  /** How long a client is told that its connection is kept for another request. */
  idleMs: number;
  /** How long a body may take to come. */
  bodyWithinMs: number;
  nowMs(): number;
}

interface Begun {
  plain: PlainHandler;
  head: Head;
  atMs: number;
}

/** So much of what comes before its turn is kept; the rest waits at the client. */
const mostWaiting = 64 * 1_024;

/**
 * A client's connection: takes one request after the other from it, answers the plain ones, and has
 * `node:http` answer the others. What cannot be told apart for certain makes the whole connection
 * one of `node:http`.
 */
export class Connection {
  readonly socket: Socket;
  readonly #parts: Parts;
  /** Sent by the client, and not yet taken. */
  #waiting: Buffer[] = [];
  #waitingLength = 0;
  /** A request whose body is still to come. */
  #begun: Begun | undefined;
  /** Of the request before. */
  #last: Head | undefined;
  /** Whether a request waits for its answer. */
  #busy = false;
  #node: NodeSide | undefined;
  /** Bytes of a request for `node:http` that are still to come. */
  #owed = 0;
  /** Whether `node:http` has answered before it had all of the request. */
  #early = false;
  /** Whether the client sends nothing more. */
  #ended = false;
  #looks = 0;

  constructor(accepted: Socket, parts: Parts) {
    const socket = readShared(accepted, (chunk) => {
      this.#take(chunk);
    });
    this.socket = socket;
    this.#parts = parts;
    socket.on('end', () => {
      this.#end();
    });
    // A broken connection closes, which is what matters.
    socket.on('error', () => undefined);
    socket.on('close', () => this.#node?.destroy());
  }

  get #isAnswering(): boolean {
    return this.#node?.alone === true ? !this.#node.isIdle : this.#busy;
  }

  /**
   * Counts how often it was looked at since the client sent something or was answered: a timer for each
   * connection would be set anew by each of both.
   *
   * @param most - so often, and a client that does not wait for an answer is given up
   */
  look(most: number): void {
    this.#looks += 1;
    if (this.#looks > most && !this.#isAnswering) this.socket.destroy();
  }

  /** A request that has begun to come is waited for, and what was answered goes out. */
  closeIfIdle(): void {
    if (!this.#isAnswering && !this.#begun) this.socket.destroySoon();
  }

  destroy(): void {
    this.socket.destroy();
  }

  #take(chunk: Buffer): void {
    this.#looks = 0;
    if (this.#node?.alone === true) this.#node.receive(chunk);
    else if (this.#owed > 0) this.#pass(chunk);
    else if (this.#busy) this.#keep(chunk);
    else if (this.#begun) this.#takeBody(this.#begun, chunk);
    else this.#begin(chunk);
  }

  /** A copy: what was read is overwritten by the next read. */
  #keep(chunk: Buffer): void {
    this.#waiting.push(Buffer.from(chunk));
    this.#waitingLength += chunk.length;
    if (this.#busy && this.#waitingLength > mostWaiting) this.socket.pause();
  }

  #takeWaiting(): Buffer {
    const [first = Buffer.alloc(0), ...rest] = this.#waiting;
    this.#waiting = [];
    this.#waitingLength = 0;
    return rest.length === 0 ? first : Buffer.concat([first, ...rest]);
  }

  #begin(chunk: Buffer): void {
    const head = readHead(chunk, this.#last);
    this.#last = head;
    const plain = this.#parts.plain();
    // A client that does not read its answers is for `node:http`, too: it waits until they are read.
    if (!head || this.socket.writableNeedDrain) this.#leaveToNode(chunk);
    else if (!plain?.takes(head)) this.#passFirst(head, chunk);
    else if (chunk.length >= head.end) this.#answer(plain, head, chunk);
    else {
      this.#begun = { plain, head, atMs: this.#parts.nowMs() };
      this.#keep(chunk);
    }
  }

  #takeBody({ plain, head, atMs }: Begun, chunk: Buffer): void {
    this.#keep(chunk);
    if (this.#waitingLength >= head.end) {
      this.#begun = undefined;
      this.#answer(plain, head, this.#takeWaiting());
    } else if (this.#parts.nowMs() - atMs > this.#parts.bodyWithinMs) {
      this.socket.destroy();
    }
  }

  #answer(plain: PlainHandler, head: Head, chunk: Buffer): void {
    this.#busy = true;
    if (chunk.length > head.end) this.#keep(chunk.subarray(head.end));
    const body = chunk.toString('utf8', head.bodyStart, head.end);
    void plain.answer({ head, body, socket: this.socket }).then((answer) => {
      this.#send(head, answer);
    });
  }

  #send({ headers }: Head, answer: PlainAnswer): void {
    const socket = this.socket;
    // The client may have gone.
    if (socket.destroyed || socket.writableEnded) return;
    const { idleMs, nowMs } = this.#parts;
    const isLast = answer.isLast || headers['connection']?.toLowerCase() === 'close';
    socket.write(writeAnswer(answer, { isLast, idleMs, nowMs: nowMs() }), 'latin1');
    this.#looks = 0;
    if (isLast) socket.destroySoon();
    else this.#next();
  }

  /** Goes on to the next request, of which some may have come before. */
  #next(): void {
    this.#busy = false;
    if (this.#waitingLength > 0) {
      const chunk = this.#takeWaiting();
      this.socket.resume();
      this.#begin(chunk);
    } else if (this.#ended) this.socket.end();
  }

  #leaveToNode(chunk: Buffer): void {
    const side = this.#openNode();
    side.alone = true;
    side.receive(chunk);
    if (this.#ended) side.push(null);
  }

  #passFirst(head: Head, chunk: Buffer): void {
    this.#busy = true;
    this.#early = false;
    this.#owed = head.end;
    this.#openNode();
    this.#pass(chunk);
  }

  #pass(chunk: Buffer): void {
    const part = chunk.subarray(0, this.#owed);
    this.#owed -= part.length;
    if (part.length < chunk.length) this.#keep(chunk.subarray(part.length));
    this.#node?.receive(part);
    if (this.#owed === 0 && this.#early) this.#next();
  }

  #openNode(): NodeSide {
    if (this.#node) return this.#node;
    const side = new NodeSide(this.socket, () => {
      this.#looks = 0;
      if (side.alone || side.destroyed || this.socket.writableEnded) return;
      if (this.#owed > 0) this.#early = true;
      else this.#next();
    });
    this.#node = side;
    this.#parts.toNode(side);
    return side;
  }

  #end(): void {
    this.#ended = true;
    const node = this.#node;
    // It takes this for a client that has gone, and what waits for that one (a long poll, a stream of
    // events) learns of it. What was asked for behind it is answered by nobody then, as there.
    if (node && (node.alone || this.#owed > 0 || !node.isIdle)) {
      this.#takeWaiting();
      node.push(null);
    } else if (this.#begun) this.#leaveToNode(this.#takeWaiting());
    else if (!this.#busy) this.socket.end();
  }
}
