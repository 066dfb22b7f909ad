import type { CocosAudioSource, CocosModule } from './cocos-module.ts';

/**
 * Silences sounds that the game starts in an ad, by a timer or an event: the engine’s pause interrupts
 * only what plays already. The function that it returns starts them.
 */
export function holdSounds({ AudioSource, director }: CocosModule): () => void {
  // A project may leave audio out of its engine.
  const scene = AudioSource && director.getScene();
  if (!scene) return () => {};
  const { AudioState, EventType } = AudioSource;
  const held = new Set<CocosAudioSource>();
  const silence = (source: CocosAudioSource): void => {
    held.add(source);
    source.pause();
  };
  const nodes = (scene.getComponentsInChildren(AudioSource) as CocosAudioSource[]).map(
    ({ node }) => node,
  );
  for (const node of nodes) node.on(EventType.STARTED, silence);
  return () => {
    for (const node of nodes) if (node.isValid) node.off(EventType.STARTED, silence);
    // What the game has stopped meanwhile stays silent.
    for (const source of held)
      if (source.isValid && source.state === AudioState.PAUSED) source.play();
  };
}
