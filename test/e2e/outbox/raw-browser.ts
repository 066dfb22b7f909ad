import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chromiumPath } from '../browser.ts';
import { chromiumArguments } from './killable-browser.ts';

/** A tab that can be hidden. In Playwright, every tab reports that it is visible. */
export interface RawTab {
  evaluate(expression: string): Promise<unknown>;
  setLifecycle(state: 'frozen' | 'active'): Promise<void>;
  activate(): Promise<void>;
}

interface Reply {
  id: number;
  result?: Record<string, unknown>;
  error?: { message: string };
}

/** Starts a browser that is controlled through the DevTools protocol over a pipe. */
export function openRawBrowser(profile: string) {
  const child = spawn(
    chromiumPath,
    [...chromiumArguments, '--remote-debugging-pipe', `--user-data-dir=${profile}`],
    { detached: true, stdio: ['ignore', 'ignore', 'ignore', 'pipe', 'pipe'] },
  );
  const exited = once(child, 'exit');
  const [, , , input, output] = child.stdio as unknown as [
    null,
    null,
    null,
    NodeJS.WritableStream,
    NodeJS.ReadableStream,
  ];
  const replyHandlers = new Map<number, (reply: Reply) => void>();
  let buffer = '';
  output.on('data', (data: Buffer) => {
    const messages = (buffer + data.toString()).split('\0');
    buffer = messages.pop() ?? '';
    for (const message of messages) {
      const reply = JSON.parse(message) as Reply;
      replyHandlers.get(reply.id)?.(reply);
    }
  });
  let lastId = 0;
  const send = (method: string, params: object, sessionId?: string) =>
    new Promise<Record<string, unknown>>((resolve, reject) => {
      const id = ++lastId;
      replyHandlers.set(id, ({ result, error }) => {
        replyHandlers.delete(id);
        if (error) reject(new Error(`${method}: ${error.message}`));
        else resolve(result ?? {});
      });
      input.write(`${JSON.stringify({ id, method, params, sessionId })}\0`);
    });

  return {
    async openTab(url: string): Promise<RawTab> {
      const { targetId } = await send('Target.createTarget', { url });
      const { sessionId } = await send('Target.attachToTarget', { targetId, flatten: true });
      const session = String(sessionId);
      await send('Page.enable', {}, session);
      return {
        async evaluate(expression) {
          const evaluateOptions = { expression, awaitPromise: true, returnByValue: true };
          const { result } = await send('Runtime.evaluate', evaluateOptions, session);
          return (result as { value?: unknown }).value;
        },
        setLifecycle: async (state) => {
          await send('Page.setWebLifecycleState', { state }, session);
        },
        activate: async () => {
          await send('Target.activateTarget', { targetId });
        },
      };
    },
    async kill(): Promise<void> {
      if (child.pid !== undefined && child.exitCode === null) process.kill(-child.pid, 'SIGKILL');
      await exited;
    },
  };
}
