import { attempt } from './guard.ts';

/** Messages between the tabs of one origin; a tab does not hear its own. */
export interface TabSignal<Message> {
  send(message: Message): void;
  /** An older or newer release may have sent it: any part of it may be missing. */
  onMessage(listener: (message: Partial<Message>) => void): () => void;
  close(): void;
}

/** Opens the signal of this name. */
export type OpenTabSignal = <Message>(name: string) => TabSignal<Message>;

/**
 * Over BroadcastChannel. Where there is none, or the browser refuses it (Firefox with cookies blocked), no tab
 * hears of another, and each finds out later.
 */
export const browserTabSignal: OpenTabSignal = <Message>(name: string) => {
  const channel = attempt(() => new BroadcastChannel(name));
  return {
    send: (message: Message) => attempt(() => channel?.postMessage(message)),
    onMessage(listener: (message: Partial<Message>) => void) {
      const onEvent = ({ data }: MessageEvent<Partial<Message> | null>): void => {
        if (data !== null) listener(data);
      };
      channel?.addEventListener('message', onEvent);
      return () => channel?.removeEventListener('message', onEvent);
    },
    close: () => channel?.close(),
  };
};
