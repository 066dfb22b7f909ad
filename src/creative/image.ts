import { listen } from '../platform/native.ts';
import { chooseFile, screenWidth } from './screen.ts';
import { findLoadFailure } from './load-failure.ts';
import { startExposure, type Exposure } from './exposure.ts';
import type { Renderer } from './renderer.ts';

/** Renders an image. The image is decoded in advance and shown for `minWatchMs` of visible time. */
export const renderImage: Renderer = async (creative, { clock, minWatchMs, signal }) => {
  if (creative.media.format !== 'image') throw new Error('format_unknown');
  const file = chooseFile(creative.media.files, screenWidth(), () => true);
  if (file === undefined) throw new Error('no_playable_file');
  const image = new Image();
  image.alt = creative.alt;
  image.src = file.url;
  let stopAbort: (() => void) | undefined;
  // `decode()` may never settle if the source is removed before loading has begun.
  const aborted = new Promise<never>((_resolve, reject) => {
    stopAbort = listen(signal, 'abort', () => {
      image.removeAttribute('src');
      reject(signal.reason);
    });
  });
  try {
    await Promise.race([image.decode(), aborted]);
  } catch {
    // `decode()` does not say why it failed, so check whether it was aborted.
    signal.throwIfAborted();
    const code = await findLoadFailure(image.src, 'image_failed', { clock, signal });
    signal.throwIfAborted();
    throw new Error(code);
  } finally {
    stopAbort?.();
  }

  let exposure: Exposure | undefined;
  return {
    element: image,
    durationMs: minWatchMs,
    start(listener) {
      image.onclick = () => listener({ type: 'clicked' });
      exposure = startExposure(clock, minWatchMs, listener);
    },
    pause: () => exposure?.pause(),
    resume: () => exposure?.resume(),
    setMuted() {},
    destroy() {
      exposure?.destroy();
      image.onclick = null;
      image.remove();
    },
  };
};
