import type { KillSwitch } from '@trueward/protocol/wire';
import { useRef } from 'react';
import type { CallOptions } from '../api/call.ts';
import { useAction } from '../api/use-call.ts';
import { formatTime, useTimeZone } from '../common/time-zone.ts';

interface Change {
  path: string;
  method: NonNullable<CallOptions['method']>;
  body: object;
}

/**
 * Changes a kill switch, and says how long it took until the change was in force: it is, when its
 * answer arrives.
 */
export function useEffectTime(what: string, onEffect: (text: string) => void) {
  const startedAt = useRef(0);
  const [zone] = useTimeZone();
  const { run, isRunning } = useAction<KillSwitch>({
    onDone(killSwitch) {
      const seconds = ((performance.now() - startedAt.current) / 1_000).toFixed(2);
      const at = formatTime(killSwitch.updated_at, zone);
      onEffect(`${what}: in force since ${at}, ${seconds} s after your click.`);
    },
  });
  return {
    isRunning,
    change({ path, ...options }: Change) {
      startedAt.current = performance.now();
      run(path, options);
    },
  };
}
