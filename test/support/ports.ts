import type { Profile } from '../../src/player-context.ts';
import type { AdRules } from '../../src/decision/ad-rules.ts';
import type { Clock } from '../../src/platform/clock.ts';
import type {
  Connectivity,
  PageLifecycle,
  PageTransition,
  OpenTabChannel,
} from '../../src/platform/page.ts';

/** Creates a lock manager that a test's simulated tabs share. */
export function createSharedLockManager(): LockManager {
  const queues = new Map<string, (() => void)[]>();
  const request = (
    name: string,
    { signal }: LockOptions,
    grant: LockGrantedCallback<unknown>,
  ): Promise<unknown> =>
    new Promise((resolve, reject) => {
      const queue = queues.get(name) ?? [];
      queues.set(name, queue);
      const start = async (): Promise<void> => {
        resolve(await grant(null));
        queue.shift();
        queue[0]?.();
      };
      const take = (): void => void start();
      queue.push(take);
      if (queue.length === 1) queueMicrotask(take);
      signal?.addEventListener('abort', () => {
        const place = queue.indexOf(take);
        if (place <= 0) return;
        queue.splice(place, 1);
        reject(signal.reason);
      });
    });
  return { request, query: async () => ({}) } as unknown as LockManager;
}

/** Creates a page whose lifecycle the test controls. */
export function createTestPage(): PageLifecycle & { emit(transition: PageTransition): void } {
  const listeners = new Set<(transition: PageTransition) => void>();
  let visible = true;
  return {
    isVisible: () => visible,
    onTransition(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    emit(transition) {
      if (transition === 'visible') visible = true;
      if (transition === 'hidden') visible = false;
      for (const listener of listeners) listener(transition);
    },
  };
}

/** Returns an {@link AdRules} without ad rules. */
const createNoAdRules = (): AdRules => ({
  waitMs: () => 0,
  formatOf: () => undefined,
  session: () => ({ age_s: 0 }),
  learn() {},
  take() {},
  onImpression() {},
  forgetPlayer() {},
  destroy() {},
});

/**
 * Returns everything that decisions depend on, except the service and the media. The page is online, its locale is
 * English, consent is known, and no player is set.
 */
export const decisionPorts = (clock: Clock) => ({
  clock,
  adRules: createNoAdRules(),
  isConsentKnown: () => true,
  lifecycle: createTestPage(),
  isOnline: () => true,
  isReachable: () => true,
  onChange: () => {},
  findObstacle: () => Promise.reject(new Error('not used')),
  locale: 'en',
  profile: (): Profile => ({ user: {}, consent: undefined, simulate: undefined }),
});

/** Creates a network whose state the test controls. */
export function createTestNetwork(): Connectivity & { reconnect(): void } {
  const listeners = new Set<() => void>();
  return {
    isOnline: () => true,
    onOnline(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    reconnect: () => listeners.forEach((listener) => listener()),
  };
}

/** Creates a channel between a test's simulated tabs. */
export function createSharedTabChannel(): OpenTabChannel {
  type Listener = (message: never) => void;
  const tabs = new Set<Set<Listener>>();
  return <Message>() => {
    const listeners = new Set<Listener>();
    tabs.add(listeners);
    return {
      send(message: Message) {
        for (const other of tabs)
          if (other !== listeners) for (const listener of other) listener(message as never);
      },
      onMessage(listener: (message: Partial<Message>) => void) {
        listeners.add(listener);
        return () => listeners.delete(listener);
      },
      close: () => tabs.delete(listeners),
    };
  };
}
