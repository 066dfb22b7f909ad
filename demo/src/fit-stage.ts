import type { Game } from 'phaser';

/** Maximum pixel ratio. A higher ratio would increase rendering time without a visible difference. */
const maxPixelRatio = 2;

/** Keeps the canvas the same size as its stage, at the screen's resolution. */
export function fitStage(game: Game, stage: HTMLElement): void {
  const fit = () => {
    const ratio = Math.min(devicePixelRatio, maxPixelRatio);
    const width = Math.max(1, Math.round(stage.clientWidth * ratio));
    const height = Math.max(1, Math.round(stage.clientHeight * ratio));
    game.scale.resize(width, height);
    // Only this sets the canvas's own size, from the size that the game has by now.
    game.scale.setZoom(1 / ratio);
  };
  new ResizeObserver(fit).observe(stage);
  fit();
}
