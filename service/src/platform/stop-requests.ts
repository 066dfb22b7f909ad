/**
 * The signals that ask a process to stop. Windows has no SIGTERM that another process could send: `kill` ends the process
 * at once. There, a parent process asks with a message instead, Ctrl-Break is SIGBREAK, and closing the console window is
 * SIGHUP. On other systems SIGHUP keeps its meaning, because `nohup` ignores it.
 */
const signals: readonly NodeJS.Signals[] =
  process.platform === 'win32'
    ? ['SIGINT', 'SIGTERM', 'SIGBREAK', 'SIGHUP']
    : ['SIGINT', 'SIGTERM'];

/** What a parent process with an IPC channel sends to ask for a stop. */
const stopMessage = 'stop';

/** Calls `stop` for each request to stop this process, with the signal's name. There may be several. */
export function onStopRequest(stop: (signal: string) => void): void {
  for (const signal of signals) process.on(signal, stop);
  if (process.channel === undefined) return;
  process.on('message', (message) => {
    if (message === stopMessage) stop(stopMessage);
  });
  // A process that was started in the background of a console window would otherwise outlive it.
  if (process.platform === 'win32') process.on('disconnect', () => stop('disconnect'));
  // The channel must not keep a process running that has finished.
  process.channel?.unref();
}
