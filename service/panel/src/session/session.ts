import { HttpError } from 'react-admin';
import { type Connection, fetchNoting } from '../api/connection.ts';
import { toHttpError } from '../api/problem.ts';
import type { Role } from './roles.ts';

/** Who is signed in. */
export interface SessionInfo {
  user: { id: string; email: string; name: string; role: Role; code_enabled?: boolean };
  account: { id: string; name: string };
  csrf_token: string;
  expires_at: string;
}

export interface Credentials {
  email: string;
  password: string;
  code?: string;
}

export interface SetUp {
  token: string;
  email: string;
  name: string;
  password: string;
}

export interface Passwords {
  current: string;
  next: string;
}

/** The session of this browser. Its secret is a cookie that no script can read. */
export interface Session {
  /** Asked of the service once, and then remembered. */
  read(): Promise<SessionInfo>;
  signIn(credentials: Credentials): Promise<void>;
  /** What is known of the user of a one-time link. */
  readLink(token: string): Promise<{ email?: string; name?: string }>;
  /** Makes the user of a one-time link, and signs them in. */
  setUp(details: SetUp): Promise<void>;
  /** Ends every other session of the user, and makes a new one. */
  changePassword(passwords: Passwords): Promise<void>;
  signOut(): Promise<void>;
  /**
   * The service no longer knows the session. Hands back whether somebody was signed in: they are asked
   * to sign in again, and until then {@link read} tells who they were.
   */
  end(): boolean;
  hasEnded(): boolean;
  /** Calls back when the session ends and when it begins again; hands back how to stop that. */
  subscribe(onChange: () => void): () => void;
  /** Goes with every request that changes something; empty when nobody is signed in. */
  csrfToken(): string;
}

const address = '/panel/api/session';

const retryMs = 2_000;

export function createSession(connection: Connection): Session {
  const listeners = new Set<() => void>();
  let info: Promise<SessionInfo> | undefined;
  let hasEnded = false;
  let csrf = '';

  async function ask(path: string, body?: object): Promise<SessionInfo> {
    const headers = { 'Content-Type': 'application/json', 'Trueward-Csrf': csrf };
    const init = body && { method: 'POST', headers, body: JSON.stringify(body) };
    const response = await fetchNoting(connection, path, init);
    if (!response.ok) throw await toHttpError(response);
    const answer = (await response.json()) as SessionInfo;
    csrf = answer.csrf_token;
    return answer;
  }
  /** Signs in: the answer tells of a new session. */
  async function adopt(path: string, body: object): Promise<void> {
    const answer = await ask(path, body);
    info = Promise.resolve(answer);
    setEnded(false);
  }
  /** Without an answer nobody knows whether somebody is signed in: to ask them would only confuse. */
  async function askUntilAnswered(): Promise<SessionInfo> {
    for (;;) {
      try {
        return await ask(address);
      } catch (error) {
        if (error instanceof HttpError && error.status < 500) throw error;
        await new Promise((resolve) => setTimeout(resolve, retryMs));
      }
    }
  }
  function read(): Promise<SessionInfo> {
    if (info === undefined) {
      info = askUntilAnswered();
      info.catch(forget);
    }
    return info;
  }
  function forget(): void {
    info = undefined;
    csrf = '';
  }
  function setEnded(next: boolean): void {
    hasEnded = next;
    for (const listener of listeners) listener();
  }

  return {
    read,
    hasEnded: () => hasEnded,
    end() {
      if (csrf === '') return false;
      setEnded(true);
      return true;
    },
    subscribe(onChange) {
      listeners.add(onChange);
      return () => listeners.delete(onChange);
    },
    csrfToken: () => csrf,
    signIn: (credentials) => adopt(address, credentials),
    async readLink(token) {
      const path = `/panel/api/setup?${new URLSearchParams({ token })}`;
      const response = await fetchNoting(connection, path);
      if (!response.ok) throw await toHttpError(response);
      // It tells of more; a form that got it would send it back.
      const { email, name } = (await response.json()) as { email?: string; name?: string };
      return { ...(email === undefined ? {} : { email }), ...(name === undefined ? {} : { name }) };
    },
    setUp: (details) => adopt('/panel/api/setup', details),
    changePassword: (passwords) => adopt('/panel/api/account/password', passwords),
    async signOut() {
      const headers = { 'Trueward-Csrf': csrf };
      if (csrf !== '') await fetchNoting(connection, address, { method: 'DELETE', headers });
      forget();
    },
  };
}
