import type { Session } from '../session/session.ts';
import { type Connection, fetchTracked } from './connection.ts';
import type { Environment } from './environment.ts';
import { readCode, toHttpError } from './problem.ts';

export interface CallOptions {
  method?: 'GET' | 'POST' | 'PATCH' | 'PUT' | 'DELETE';
  /** Sent as JSON, or unmodified if it is a `File`. */
  body?: unknown;
  /** The `ETag` of the version to change. The service rejects the change if the object has been modified since. */
  ifMatch?: string | undefined;
  signal?: AbortSignal | undefined;
}

export interface ApiResponse<T> {
  body: T;
  etag: string | undefined;
}

/** Calls the service as the signed-in user, in one environment. */
export interface Call {
  <T>(path: string, options?: CallOptions): Promise<ApiResponse<T>>;
}

/**
 * Creates a {@link Call} for one environment. Each request specifies its environment, so that it can't affect the other
 * environment.
 *
 * @throws HttpError for every response with a status other than 2xx.
 */
export function createCall(
  session: Session,
  connection: Connection,
  environment: Environment,
): Call {
  const call = async <T>(
    path: string,
    { method = 'GET', body, ifMatch, signal }: CallOptions = {},
  ): Promise<ApiResponse<T>> => {
    const isFile = body instanceof File;
    // The browser derives the type from the file name; the service rejects content of a different type.
    const type = isFile ? body.type || 'application/octet-stream' : 'application/json';
    const response = await fetchTracked(connection, path, {
      method,
      signal: signal ?? null,
      headers: {
        'Trueward-Environment': environment,
        ...(method === 'GET' ? {} : { 'Trueward-Csrf': session.csrfToken() }),
        ...(body === undefined ? {} : { 'Content-Type': type }),
        ...(ifMatch === undefined ? {} : { 'If-Match': ifMatch }),
      },
      ...(body === undefined ? {} : { body: isFile ? body : JSON.stringify(body) }),
    });
    if (!response.ok) throw await toHttpError(response);
    return {
      body: (await readBody(response)) as T,
      etag: response.headers.get('etag') ?? undefined,
    };
  };
  return async <T>(path: string, options?: CallOptions) => {
    try {
      return await call<T>(path, options);
    } catch (error) {
      if (readCode(error) !== 'confirmation_required' || !(await session.askForPassword()))
        throw error;
      return call<T>(path, options);
    }
  };
}

function readBody(response: Response): Promise<unknown> | undefined {
  if (response.status === 204) return undefined;
  const isJson = response.headers.get('content-type')?.includes('json') ?? false;
  return isJson ? response.json() : response.text();
}
