import type { Socket } from 'node:net';
import type { Head } from './read-head.ts';

/** A whole request. */
export interface PlainRequest {
  head: Head;
  body: string;
  /** Who sent it. */
  socket: Pick<Socket, 'remoteAddress'>;
}

export interface PlainAnswer {
  status: number;
  headers: Readonly<Record<string, string | number>>;
  /** In ASCII. */
  body: string;
  /** Whether the connection is ended after it. */
  isLast: boolean;
}

/** Answers requests without `node:http`. */
export interface PlainHandler {
  /** Whether it answers a request that begins so. */
  takes(head: Head): boolean;
  /** Never rejects. */
  answer(request: PlainRequest): Promise<PlainAnswer>;
}
