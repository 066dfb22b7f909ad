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
  const stopLoading = () => image.removeAttribute('src');
  signal.addEventListener('abort', stopLoading);
  try {
    await image.decode();
  } catch {
    // `decode()` does not say why it failed, so check whether it was aborted.
    signal.throwIfAborted();
    const code = await findLoadFailure(image.src, 'image_failed', { clock, signal });
    signal.throwIfAborted();
    throw new Error(code);
  } finally {
    signal.removeEventListener('abort', stopLoading);
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
