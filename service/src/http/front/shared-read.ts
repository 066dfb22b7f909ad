import { type ConnectOpts, Socket, type SocketConstructorOpts } from 'node:net';

/** What one read of a socket brings at most, as `libuv` has it. */
const buffer = Buffer.allocUnsafeSlow(64 * 1_024);

/** A part of `net` that has no types: what a socket reads from, which another may go on with. */
interface Accepted {
  _handle: object | null;
}

/**
 * A socket that goes on where an accepted one stands, and reads into one buffer that all of them
 * share. Otherwise each read takes 64 KiB from the system and leaves an object that the collector of
 * garbage has to see to, which is a tenth of what a decision costs.
 *
 * @param onRead - given what was read, which is overwritten by the next read of any socket
 */
export function readShared(accepted: Socket, onRead: (chunk: Buffer) => void): Socket {
  const { _handle: handle } = accepted as unknown as Accepted;
  const options: SocketConstructorOpts & ConnectOpts & { handle: object | null } = {
    handle,
    allowHalfOpen: true,
    onread: {
      buffer,
      callback: (length) => {
        onRead(buffer.subarray(0, length));
        return true;
      },
    },
  };
  const socket = new Socket(options);
  (accepted as unknown as Accepted)._handle = null;
  // The server counts the one that it has accepted.
  socket.once('close', () => accepted.destroy());
  return socket;
}
