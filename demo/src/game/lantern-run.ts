import { Scene, type GameObjects, type Input } from 'phaser';
import { createCourse } from './course.ts';
import { createLantern, type Lantern } from './lantern.ts';
import { seededRandom } from './random.ts';
import { createRiver, type River } from './river.ts';
import { makeSounds, playSound } from './sounds.ts';
import { drawSky, hillWidth, makeTextures } from './textures.ts';

/** Callbacks that notify the page of game events. */
export interface RunListener {
  ready(): void;
  sparks(count: number): void;
  over(sparks: number): void;
  /** Returns how many sparks one counts for. */
  sparkValue(): number;
}

/** The game's settings. `speed` multiplies the pace, and the same `seed` always creates the same course. */
export interface RunSettings {
  seed: number;
  speed: number;
}

const minWidth = 360;
const minHeight = 480;
const startPace = 175;
const waterDepth = 22;

/** The game: a lantern drifts down the river, rises while the player presses, and goes out when it hits something. */
export class LanternRun extends Scene {
  readonly #settings: RunSettings;
  readonly #listener: RunListener;
  #view = { width: minWidth, height: minHeight };
  #hills: { image: GameObjects.Image; pace: number; index: number }[] = [];
  #lantern!: Lantern;
  #river: River | undefined;
  #state: 'waiting' | 'flying' | 'out' = 'waiting';
  #distance = 0;
  #runs = 0;
  #sparks = 0;
  #keys: Input.Keyboard.Key[] = [];

  constructor(settings: RunSettings, listener: RunListener) {
    super('lantern-run');
    this.#settings = settings;
    this.#listener = listener;
  }

  create(): void {
    makeTextures(this.textures);
    makeSounds(this);
    this.#lantern = createLantern(this);
    this.#keys = ['SPACE', 'UP', 'W'].flatMap(
      (name) => this.input.keyboard?.addKey(name, false) ?? [],
    );
    this.scale.on('resize', this.#layOut, this);
    this.#layOut();
    playSound(this, 'night', { loop: true });
    this.#listener.ready();
  }

  /** Gives the lantern a blue flame. */
  paintBlue(): void {
    this.#lantern.paintBlue();
  }

  /** Starts a new run. */
  play(): void {
    this.#distance = 0;
    this.#sparks = 0;
    this.#runs += 1;
    this.#createRiver();
    this.#listener.sparks(0);
  }

  /** Resumes the run where the lantern went out, with the obstacles just ahead removed. */
  revive(): void {
    this.#river?.clearAhead(this.#view.width * 0.9);
    this.#fly();
    playSound(this, 'revive');
    this.cameras.main.flash(320, 255, 214, 140);
  }

  /** Returns to the idle scene behind the lobby. */
  showIdle(): void {
    this.#river?.destroy();
    this.#river = undefined;
    this.#state = 'waiting';
    this.#placeLantern();
  }

  override update(time: number, deltaMs: number): void {
    const seconds = Math.min(deltaMs, 50) / 1_000;
    if (this.#state === 'out') return;
    const pace = this.#pace();
    this.#distance += pace * seconds;
    this.#scrollHills();
    if (this.#state === 'waiting') return this.#lantern.hover(time / 1_000);
    this.#lantern.fly(seconds, this.#isRising(), 24);
    this.#river?.scroll(this.#distance, time / 1_000);
    this.#handleCollisions();
  }

  #pace(): number {
    if (this.#state === 'waiting') return 40;
    return (startPace + Math.min(130, this.#distance / 90)) * this.#settings.speed;
  }

  #isRising(): boolean {
    return this.input.activePointer.isDown || this.#keys.some((key) => key.isDown);
  }

  #createRiver(): void {
    this.#river?.destroy();
    const nextStretch = createCourse(seededRandom(this.#settings.seed + this.#runs));
    this.#river = createRiver(this, nextStretch, this.#view);
    this.#fly();
  }

  #fly(): void {
    this.#placeLantern();
    this.#state = 'flying';
    // These keys would otherwise scroll the page. They are captured only during a run, because the page's buttons need
    // them.
    this.input.keyboard?.addCapture('SPACE,UP');
  }

  #placeLantern(): void {
    this.#lantern.setLit(true);
    this.#lantern.place(this.#view.width * 0.27, this.#view.height * 0.42);
  }

  #handleCollisions(): void {
    const { x, y, radius } = this.#lantern;
    for (const spark of this.#river?.collect(x, y, radius) ?? []) this.#collectSpark(spark);
    const inWater = y > this.#view.height - waterDepth;
    if (inWater || this.#river?.hits(x, y, radius)) this.#goOut();
  }

  #collectSpark(at: { x: number; y: number }): void {
    this.#sparks += this.#listener.sparkValue();
    this.#listener.sparks(this.#sparks);
    playSound(this, 'spark');
    const image = this.add.image(at.x, at.y, 'spark').setScale(0.5).setDepth(8);
    const done = () => image.destroy();
    this.tweens.add({
      targets: image,
      y: at.y - 46,
      scale: 1,
      alpha: 0,
      duration: 420,
      ease: 'Cubic.Out',
      onComplete: done,
    });
  }

  #goOut(): void {
    this.#state = 'out';
    this.input.keyboard?.removeCapture('SPACE,UP');
    this.#lantern.setLit(false);
    this.cameras.main.shake(180, 0.008);
    playSound(this, 'out');
    this.#listener.over(this.#sparks);
  }

  #scrollHills(): void {
    for (const { image, pace, index } of this.#hills) {
      image.x = index * hillWidth - ((this.#distance * pace) % hillWidth);
    }
  }

  /** Makes the world at least 360 by 480 units. The camera scales it to fit the stage. */
  #layOut(): void {
    const { width, height } = this.scale.gameSize;
    const zoom = Math.min(height / minHeight, width / minWidth);
    this.#view.width = width / zoom;
    this.#view.height = height / zoom;
    this.cameras.main.setOrigin(0, 0).setZoom(zoom);
    this.#drawBackdrop(width, height);
    this.#scrollHills();
    // During a run, the lantern is not repositioned, because the obstacles keep the positions computed for the
    // previous height.
    if (this.#state === 'waiting') this.#placeLantern();
  }

  #drawBackdrop(width: number, height: number): void {
    this.children.getByName('sky')?.destroy();
    if (this.textures.exists('sky')) this.textures.remove('sky');
    const texture = this.textures.createCanvas('sky', width, height);
    if (!texture) return;
    drawSky(texture.context, width, height);
    texture.refresh();
    const { width: viewWidth, height: viewHeight } = this.#view;
    this.add
      .image(0, 0, 'sky')
      .setName('sky')
      .setOrigin(0, 0)
      .setDisplaySize(viewWidth, viewHeight)
      .setDepth(0);
    this.children.getByName('water')?.destroy();
    const water = this.add
      .image(0, viewHeight, 'water')
      .setName('water')
      .setOrigin(0, 1)
      .setDepth(8);
    water.setDisplaySize(viewWidth, waterDepth + 6).setAlpha(0.92);
    for (const { image } of this.#hills) image.destroy();
    const hillCount = Math.ceil(viewWidth / hillWidth) + 1;
    this.#hills = Array.from({ length: hillCount }, (_, index) => [
      { image: this.#addHill('far', 1), pace: 0.12, index },
      { image: this.#addHill('near', 2), pace: 0.3, index },
    ]).flat();
  }

  #addHill(key: string, depth: number): GameObjects.Image {
    return this.add
      .image(0, this.#view.height + 2, key)
      .setOrigin(0, 1)
      .setScale(0.5)
      .setDepth(depth);
  }
}
