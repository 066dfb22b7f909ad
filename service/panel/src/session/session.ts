import { HttpError } from 'react-admin';
import { type Connection, fetchTracked } from '../api/connection.ts';
import { toHttpError } from '../api/problem.ts';
import type { Role } from './roles.ts';

/** The signed-in user and their session. */
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
  /** The account's id; needed only if the password opens several accounts. */
  account?: string;
}

export interface SetupDetails {
  token: string;
  email: string;
  name: string;
  password: string;
}

export interface Passwords {
  current: string;
  next: string;
}

/** This browser's session. Its secret is stored in an HttpOnly cookie, which scripts cannot read. */
export interface Session {
  /** Returns the session. It is requested from the service once and then cached. */
  read(): Promise<SessionInfo>;
  signIn(credentials: Credentials): Promise<void>;
  /** Returns what is known about the user for whom a single-use link was created. */
  readLink(token: string): Promise<{ email?: string; name?: string }>;
  /** Sets up the user for whom a single-use link was created, and signs them in. */
  setUp(details: SetupDetails): Promise<void>;
  /** Changes the password, ends all of the user's other sessions, and starts a new one. */
  changePassword(passwords: Passwords): Promise<void>;
  signOut(): Promise<void>;
  /**
   * Prompts for the password, which the service requires again before dangerous changes. Resolves to false if the user
   * cancels.
   */
  askForPassword(): Promise<boolean>;
  /** Whether the user is being prompted for the password. */
  isAsking(): boolean;
  /** Sends the entered password; undefined cancels. Rejects if the service doesn't accept it. */
  confirm(credentials: { password: string; code?: string } | undefined): Promise<void>;
  /**
   * Handles a session that the service no longer accepts. Returns whether a user was signed in. If so, they are prompted
   * to sign in again, and {@link read} returns their details until then.
   */
  end(): boolean;
  hasEnded(): boolean;
  /** Subscribes to the session's end and renewal; returns a function that unsubscribes. */
  subscribe(onChange: () => void): () => void;
  /** Returns the CSRF token for requests other than GET; empty when nobody is signed in. */
  csrfToken(): string;
}

const sessionPath = '/panel/api/session';

const retryMs = 2_000;

export function createSession(connection: Connection): Session {
  const listeners = new Set<() => void>();
  let info: Promise<SessionInfo> | undefined;
  let hasEnded = false;
  let csrf = '';
  let answers: ((isConfirmed: boolean) => void)[] = [];

  async function send(path: string, body?: object): Promise<Response> {
    const headers = { 'Content-Type': 'application/json', 'Trueward-Csrf': csrf };
    const init = body && { method: 'POST', headers, body: JSON.stringify(body) };
    const response = await fetchTracked(connection, path, init);
    if (!response.ok) throw await toHttpError(response);
    return response;
  }
  async function request(path: string, body?: object): Promise<SessionInfo> {
    const session = (await (await send(path, body)).json()) as SessionInfo;
    csrf = session.csrf_token;
    return session;
  }
  /** Sends a request, and signs in with the session in the response. */
  async function signInWith(path: string, body: object): Promise<void> {
    const response = await request(path, body);
    info = Promise.resolve(response);
    setEnded(false);
  }
  /** Retries until the service responds. Until then, it is unknown whether the user is signed in. */
  async function fetchUntilResponse(): Promise<SessionInfo> {
    for (;;) {
      try {
        return await request(sessionPath);
      } catch (error) {
        if (error instanceof HttpError && error.status < 500) throw error;
        await new Promise((resolve) => setTimeout(resolve, retryMs));
      }
    }
  }
  function read(): Promise<SessionInfo> {
    if (info === undefined) {
      info = fetchUntilResponse();
      info.catch(clearSession);
    }
    return info;
  }
  function clearSession(): void {
    info = undefined;
    csrf = '';
  }
  function notify(): void {
    for (const listener of listeners) listener();
  }
  function setEnded(next: boolean): void {
    hasEnded = next;
    notify();
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
    signIn: (credentials) => signInWith(sessionPath, credentials),
    async readLink(token) {
      const path = `/panel/api/setup?${new URLSearchParams({ token })}`;
      const response = await fetchTracked(connection, path);
      if (!response.ok) throw await toHttpError(response);
      // Return only the fields that the form may send back.
      const { email, name } = (await response.json()) as { email?: string; name?: string };
      return { ...(email === undefined ? {} : { email }), ...(name === undefined ? {} : { name }) };
    },
    isAsking: () => answers.length > 0,
    askForPassword: () =>
      new Promise((resolve) => {
        answers.push(resolve);
        notify();
      }),
    async confirm(credentials) {
      if (credentials) await send(`${sessionPath}/confirmation`, credentials);
      for (const answer of answers) answer(credentials !== undefined);
      answers = [];
      notify();
    },
    setUp: (details) => signInWith('/panel/api/setup', details),
    changePassword: (passwords) => signInWith('/panel/api/account/password', passwords),
    async signOut() {
      const headers = { 'Trueward-Csrf': csrf };
      if (csrf !== '') await fetchTracked(connection, sessionPath, { method: 'DELETE', headers });
      clearSession();
    },
  };
}
