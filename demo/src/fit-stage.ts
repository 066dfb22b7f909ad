import type { Game } from 'phaser';

/** More real pixels than this cost time and can't be seen in this game. */
const largestPixelRatio = 2;

/** Keeps the canvas as large as its stage, and as sharp as the screen. */
export function fitStage(game: Game, stage: HTMLElement): void {
  const fit = () => {
    const ratio = Math.min(devicePixelRatio, largestPixelRatio);
    const width = Math.max(1, Math.round(stage.clientWidth * ratio));
    const height = Math.max(1, Math.round(stage.clientHeight * ratio));
    game.scale.setZoom(1 / ratio);
    game.scale.resize(width, height);
  };
  new ResizeObserver(fit).observe(stage);
  fit();
}
