import type { FastifyReply, FastifyRequest } from 'fastify';

/** The cookie that holds the text of a session. */
export interface SessionCookie {
  read(request: FastifyRequest): string | undefined;
  set(reply: FastifyReply, text: string, expiresAtMs: number): void;
  clear(reply: FastifyReply): void;
}

/**
 * No script reads it and no other site sends it. Over https its name begins with `__Host-`, by which
 * browsers refuse one that a subdomain or a plain connection would plant (RFC 6265bis, 4.1.3.2).
 *
 * @param address The address that the service is known by.
 */
export function createSessionCookie(address: () => string): SessionCookie {
  const secure = () => address().startsWith('https:');
  const name = () => `${secure() ? '__Host-' : ''}trueward_session`;
  const attributes = () => `Path=/; HttpOnly; SameSite=Strict${secure() ? '; Secure' : ''}`;
  return {
    read(request) {
      const prefix = `${name()}=`;
      return request.headers.cookie
        ?.split(';')
        .map((pair) => pair.trim())
        .find((pair) => pair.startsWith(prefix))
        ?.slice(prefix.length);
    },
    set(reply, text, expiresAtMs) {
      const expires = new Date(expiresAtMs).toUTCString();
      void reply.header('set-cookie', `${name()}=${text}; ${attributes()}; Expires=${expires}`);
    },
    clear(reply) {
      void reply.header('set-cookie', `${name()}=; ${attributes()}; Max-Age=0`);
    },
  };
}
