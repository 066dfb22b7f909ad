import { describe, expect, it, vi } from 'vitest';
import { createEmitter } from '../../../src/platform/emitter.ts';

interface Events {
  moved: (x: number) => unknown;
  stopped: () => unknown;
}
const recordCallsIn = (log: string[], name: string) => (x: number) => void log.push(`${name} ${x}`);

describe('The emitter', () => {
  it('calls every handler, then rejects if any of them failed', async () => {
    const events = createEmitter<Events>();
    const log: string[] = [];
    events.on('moved', () => {
      throw new Error('first');
    });
    events.on('moved', () => Promise.reject(new Error('second')));
    events.on('moved', recordCallsIn(log, 'third'));
    await expect(events.call('moved', 7)).rejects.toThrow('first');
    expect(log).toEqual(['third 7']);
  });

  it('calls a once() handler once, even if the handler emits the event again', async () => {
    const events = createEmitter<Events>();
    const once = vi.fn(() => events.emit('stopped'));
    events.once('stopped', once);
    expect(events.hasListeners('stopped')).toBe(true);
    events.emit('stopped');
    events.emit('stopped');
    expect(once).toHaveBeenCalledTimes(1);
    expect(events.hasListeners('stopped')).toBe(false);
  });

  it('calls a handler with its context', () => {
    const events = createEmitter<Events>();
    const player = { x: 0 };
    events.on(
      'moved',
      function (this: typeof player, x) {
        this.x = x;
      },
      player,
    );
    events.emit('moved', 3);
    expect(player.x).toBe(3);
  });

  it('the disposer from on() removes only its own registration', () => {
    const events = createEmitter<Events>();
    const log: string[] = [];
    const handler = recordCallsIn(log, 'kept');
    const remove = events.on('moved', handler);
    events.on('moved', handler);
    remove();
    remove();
    events.emit('moved', 1);
    expect(log).toEqual(['kept 1']);
  });

  it('off() removes a handler, a handler with a given context, or all handlers for an event', () => {
    const events = createEmitter<Events>();
    const log: string[] = [];
    const handler = recordCallsIn(log, 'kept');
    const context = {};
    const add = () => {
      events.on('moved', handler);
      events.on('moved', handler, context);
      events.on('moved', recordCallsIn(log, 'other'));
    };
    add();
    events.off('moved', handler, context);
    events.emit('moved', 1);
    events.off('moved', handler);
    events.emit('moved', 2);
    events.off('moved');
    events.emit('moved', 3);
    expect(log).toEqual(['kept 1', 'other 1', 'other 2']);
  });
});
