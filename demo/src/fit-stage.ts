import type { Game } from 'phaser';

/** Maximum pixel ratio. A higher ratio takes more rendering time without a visible difference. */
const maxPixelRatio = 2;

/** Keeps the canvas as large as its stage, at the resolution of the screen. */
export function fitStage(game: Game, stage: HTMLElement): void {
  const fit = () => {
    const ratio = Math.min(devicePixelRatio, maxPixelRatio);
    const width = Math.max(1, Math.round(stage.clientWidth * ratio));
    const height = Math.max(1, Math.round(stage.clientHeight * ratio));
    game.scale.setZoom(1 / ratio);
    game.scale.resize(width, height);
  };
  new ResizeObserver(fit).observe(stage);
  fit();
}
