import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';

/** External sources in a separate process. `source-server.mjs` describes their URLs. */
export interface SourceServer {
  url: string;
  /** Adds documents, by name. */
  serve(documents: Record<string, string>): Promise<void>;
  /** Returns how long each player's slowest source has taken since the last call, in milliseconds. */
  takeTimes(): Promise<Record<string, number>>;
  stop(): Promise<void>;
}

export async function startSourceServer(): Promise<SourceServer> {
  const child = fork(join(import.meta.dirname, 'source-server.mjs'));
  const [{ url }] = (await once(child, 'message')) as [{ url: string }];
  const exchange = async (message: object): Promise<Record<string, number>> => {
    child.send(message);
    const [{ times }] = (await once(child, 'message')) as [{ times: Record<string, number> }];
    return times;
  };
  return {
    url,
    serve: async (documents) => void (await exchange({ documents })),
    takeTimes: () => exchange({}),
    async stop() {
      child.disconnect();
      await once(child, 'exit');
    },
  };
}
