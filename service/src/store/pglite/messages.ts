/** What the main thread hands to the database worker when it starts it. */
export interface WorkerOptions {
  /** The folder of the PostgreSQL cluster. */
  directory: string;
  /** `initialise` makes a new cluster and ends; `serve` opens one and answers. */
  mode: 'initialise' | 'serve';
}

export type WorkerRequest =
  | { id: number; kind: 'query'; text: string; params: readonly unknown[] }
  | { id: number; kind: 'close' };

export type WorkerAnswer =
  | { id: number; rows: Record<string, unknown>[] }
  | { id: number; error: { message: string; code?: string } };

/** The id under which the worker says that it is ready, or why it cannot be. */
export const readyId = 0;
