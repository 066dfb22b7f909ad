import type { CocosAudioSource, CocosModule } from './cocos-module.ts';

/**
 * Silences sounds that the game starts during an ad, from a timer or an event handler: the engine’s pause only
 * interrupts sounds that already play. Returns a function that starts them.
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
    // Sounds that the game has stopped meanwhile stay silent.
    for (const source of held)
      if (source.isValid && source.state === AudioState.PAUSED) source.play();
  };
}
