import type { ServerResponse } from 'node:http';
import type { FastifyInstance } from 'fastify';
import type { LiveTail } from '../../../inspect/live-tail.ts';
import type { Sessions } from '../../../user/sessions.ts';
import { ProblemError } from '../../problem.ts';
import { sessionOf } from '../../session-access.ts';

interface Parts {
  liveTail: LiveTail;
  users: { sessions: Sessions };
  /** Aborts when the service stops. */
  stopping: AbortSignal;
}

/** Proxies cut a connection on which nothing comes; and the session is looked at as often. */
const heartbeatMs = 15_000;
/** Open pages of one account. */
const mostListeners = 20;
/** Whoever reads more slowly than it comes is cut; the page connects anew. */
const mostWaitingBytes = 1_048_576;

/** `/panel/api/live`: server-sent events of what the sandbox records, until the session ends. */
export function addLiveRoute(app: FastifyInstance, parts: Parts): void {
  const { liveTail, users, stopping } = parts;
  app.get(
    '/panel/api/live',
    // HEAD would never be answered: the stream does not end.
    { config: { panel: 'account' }, schema: { hide: true }, exposeHeadRoute: false },
    async (request, reply) => {
      const { user, text } = sessionOf(request);
      if (liveTail.count(user.accountId) >= mostListeners) {
        throw new ProblemError('rate_limited', 'Too many pages of this account watch already.', {
          retryAfterS: 60,
        });
      }
      reply.hijack();
      const stream = openStream(reply.raw, {
        'request-id': request.id,
        'cache-control': 'no-store',
      });
      const watch = liveTail.listen(user.accountId, ({ event, data }) =>
        stream.write(`event: ${event}\ndata: ${JSON.stringify(data)}\n\n`),
      );
      const cut = (error: unknown): void => {
        request.log.warn({ err: error }, 'a live tail was cut');
        stream.end();
      };
      // With the first bytes the page says that it listens: from then on it is shown everything.
      watch.ready.then(() => stream.write(': the sandbox, as it happens\n\n'), cut);
      const beat = async (): Promise<void> => {
        if (await users.sessions.find(text, { touch: false })) stream.write(': \n\n');
        else stream.end();
      };
      const timer = setInterval(() => void beat().catch(cut), heartbeatMs);
      stopping.addEventListener('abort', stream.end);
      reply.raw.once('close', () => {
        watch.stop();
        clearInterval(timer);
        stopping.removeEventListener('abort', stream.end);
      });
      return reply;
    },
  );
}

function openStream(response: ServerResponse, headers: Record<string, string>) {
  response.writeHead(200, {
    ...headers,
    'content-type': 'text/event-stream; charset=utf-8',
    'x-content-type-options': 'nosniff',
    // Kept alive after its end, it would hold up a service that stops.
    connection: 'close',
    // nginx would hold the lines back.
    'x-accel-buffering': 'no',
  });
  return {
    write(text: string): void {
      if (response.writableEnded) return;
      if (response.writableLength > mostWaitingBytes) response.destroy();
      else response.write(text);
    },
    end: (): void => void response.end(),
  };
}
