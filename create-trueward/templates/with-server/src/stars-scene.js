import { Math as PhaserMath, Scene } from 'phaser';
import { loadCoins } from './server.js';

const lives = 3;
const textStyle = { fontFamily: 'sans-serif', fontSize: '18px', color: '#ffffff' };

/** A star-catching game. After three misses, the player can watch an ad to earn another life or coins. */
export class StarsScene extends Scene {
  create() {
    this.caughtCount = 0;
    this.missedCount = 0;
    this.basket = this.add.rectangle(180, 500, 90, 14, 0x7fd1ae);
    this.stars = this.add.group();
    this.score = this.add.text(12, 12, '', textStyle);
    this.coins = this.add.text(348, 12, '', textStyle).setOrigin(1, 0);
    this.input.on('pointermove', ({ x }) => (this.basket.x = PhaserMath.Clamp(x, 45, 315)));
    this.keys = this.input.keyboard?.createCursorKeys();
    this.timer = this.time.addEvent({
      delay: 900,
      loop: true,
      callback: this.dropStar,
      callbackScope: this,
    });
    // The webhook reaches the server at about the same time as this event, so poll for the new balance for a few
    // seconds.
    this.ads.on('reward', this.pollCoins, this);
    this.writeScore();
    void this.showCoins();
  }

  update(_time, delta) {
    if (this.missedCount >= lives) return;
    const direction =
      Number(this.keys?.right.isDown ?? false) - Number(this.keys?.left.isDown ?? false);
    this.basket.x = PhaserMath.Clamp(this.basket.x + direction * delta * 0.4, 45, 315);
    for (const star of this.stars.getChildren().slice()) {
      star.y += delta * 0.2;
      const isCaught = star.y > 490 && star.y < 510 && Math.abs(star.x - this.basket.x) < 55;
      if (isCaught) this.caughtCount += 1;
      else if (star.y > 550) this.missedCount += 1;
      else continue;
      star.destroy();
      this.writeScore();
    }
    if (this.missedCount >= lives) this.endRun();
  }

  dropStar() {
    this.stars.add(this.add.star(PhaserMath.Between(20, 340), -10, 5, 5, 11, 0xffd866));
  }

  writeScore() {
    this.score.setText(
      `Stars ${this.caughtCount}   Lives ${Math.max(0, lives - this.missedCount)}`,
    );
  }

  pollCoins() {
    this.time.addEvent({ delay: 1_000, repeat: 9, callback: this.showCoins, callbackScope: this });
  }

  async showCoins() {
    const coins = await loadCoins();
    // The scene may have ended while the request was in flight.
    if (this.coins.active) this.coins.setText(`Coins ${coins}`);
  }

  endRun() {
    this.timer.paused = true;
    this.stars.clear(true, true);
    const endScreen = this.add.container(0, 0, [
      this.add.text(180, 180, `Stars caught: ${this.caughtCount}`, textStyle).setOrigin(0.5),
      this.add
        .text(180, 390, 'Play again', textStyle)
        .setOrigin(0.5)
        .setInteractive({ useHandCursor: true })
        .once('pointerup', () => this.scene.restart()),
      this.addOfferButton('revive', 'Another life', 250, () => {
        endScreen.destroy();
        this.missedCount = lives - 1;
        this.timer.paused = false;
        this.writeScore();
      }),
      this.addOfferButton('double-coins', '50 coins', 320),
    ]);
  }

  /** Adds a button that shows whether an ad is available, or when the next one will be. */
  addOfferButton(placement, rewardLabel, y, onRewarded = () => {}) {
    return this.ads.addRewardedButton({
      placement,
      x: 180,
      y,
      label: ({ state, secondsLeft }) => {
        if (state === 'ready') return `Watch an ad: ${rewardLabel}`;
        return secondsLeft > 0 ? `${rewardLabel} in ${secondsLeft} s` : `${rewardLabel}: no ad yet`;
      },
      // `pending` means that the ad was watched, but the reward has not been confirmed yet.
      onResult: ({ outcome }) => {
        if (outcome === 'rewarded' || outcome === 'pending') onRewarded();
      },
    });
  }
}
