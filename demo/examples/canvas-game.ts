import { createAds, createEngineDriver } from 'trueward';
import type { Ads, AdsOptions, GameDriver } from 'trueward';

/** A game loop that doesn't use an engine. */
export class Loop {
  /** Whether the game runs, as far as the game itself is concerned. */
  running = true;
  drawing = false;
  readonly updates = new Set<() => void>();
  readonly driver: GameDriver;

  constructor(canvas: HTMLCanvasElement, draw: (context: CanvasRenderingContext2D) => void) {
    const driver = createEngineDriver({
      canvas: () => canvas,
      onFrame: (callback) => {
        this.updates.add(callback);
        return () => this.updates.delete(callback);
      },
    });
    this.driver = driver;
    const context = canvas.getContext('2d');
    const frame = () => {
      requestAnimationFrame(frame);
      // Not only `running`, which belongs to the game: it may pause and resume itself during the ad.
      if (!this.running || driver.isHeld || !context) return;
      for (const update of this.updates) update();
      this.drawing = true;
      draw(context);
      this.drawing = false;
    };
    requestAnimationFrame(frame);
  }
}

/** Starts a game that draws the coin count and a bouncing ball. The ball shows whether the game is running. */
export function startGame(canvas: HTMLCanvasElement, options: AdsOptions): Ads {
  let coins = 0;
  let step = 0;
  const loop = new Loop(canvas, (context) => {
    context.fillStyle = '#2a2549';
    context.fillRect(0, 0, canvas.width, canvas.height);
    context.fillStyle = '#ffc861';
    context.beginPath();
    context.arc(canvas.width / 2, 60 + Math.abs(Math.sin(step / 30)) * 80, 16, 0, 2 * Math.PI);
    context.fill();
    context.fillStyle = '#ffffff';
    context.font = '16px system-ui';
    context.fillText(`Coins: ${coins}`, 16, 24);
  });
  loop.updates.add(() => {
    step += 1;
  });
  const ads = createAds({ ...options, engine: loop.driver });
  const paid = new Set<string>();
  ads.on('reward', ({ decisionId, reward }) => {
    // The same reward may be delivered again, for example after an error.
    if (paid.has(decisionId)) return;
    paid.add(decisionId);
    coins += reward.amount;
  });
  return ads;
}
