import { Math as PhaserMath, Scene } from 'phaser';
import { owns, saveOnce } from './save.js';

const lives = 3;
const textStyle = { fontFamily: 'sans-serif', fontSize: '18px', color: '#ffffff' };
const item = 'wide-basket'; // also the id of its purchase, so that a reload doesn't buy it twice
const price = 5;
/** What the shop shows after each outcome. */
const shopTexts = {
  spent: 'The basket is yours',
  insufficient: `You need ${price} gems`,
  pending: 'One moment …',
  offline: 'You are offline',
};

/** A star-catching game. Between runs, the player can watch an ad for gems, and spend them on a wider basket. */
export class StarsScene extends Scene {
  create() {
    this.caughtCount = 0;
    this.missedCount = 0;
    this.basket = this.add.rectangle(180, 500, 90, 14, 0x7fd1ae);
    this.stars = this.add.group();
    this.score = this.add.text(12, 12, '', textStyle);
    const label = (gems) => `Gems ${gems}`;
    this.ads
      .addWalletText({ type: 'gems', x: 348, y: 12, label, style: textStyle })
      .setOrigin(1, 0);
    // Called until it succeeds, also after a crash. So what was bought is handed out here, and not after `spend()`.
    this.ads.on('spend', (spend) => {
      saveOnce(spend.id, spend.reason);
      this.showBasket();
    });
    this.input.on('pointermove', ({ x }) => this.moveBasket(x));
    this.keys = this.input.keyboard?.createCursorKeys();
    this.timer = this.time.addEvent({ delay: 900, loop: true, callback: () => this.dropStar() });
    this.writeScore();
    this.showBasket();
  }

  update(_time, delta) {
    if (this.missedCount >= lives) return;
    if (this.keys?.left.isDown) this.moveBasket(this.basket.x - delta * 0.4);
    if (this.keys?.right.isDown) this.moveBasket(this.basket.x + delta * 0.4);
    for (const star of this.stars.getChildren().slice()) {
      star.y += delta * 0.2;
      const reach = this.basket.width / 2 + 10;
      const isCaught = star.y > 490 && star.y < 510 && Math.abs(star.x - this.basket.x) < reach;
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

  moveBasket(x) {
    this.basket.x = PhaserMath.Clamp(x, this.basket.width / 2, 360 - this.basket.width / 2);
  }

  writeScore() {
    this.score.setText(`Stars ${this.caughtCount}   Lives ${lives - this.missedCount}`);
  }

  showBasket() {
    if (owns(item)) this.basket.setSize(140, 14).setFillStyle(0xffd866);
  }

  endRun() {
    this.timer.paused = true;
    this.stars.clear(true, true);
    this.add.text(180, 180, `Stars caught: ${this.caughtCount}`, textStyle).setOrigin(0.5);
    this.ads.addRewardedButton({ placement: 'earn-gems', x: 180, y: 250 });
    if (!owns(item)) this.addShop();
    this.addButton(390, 'Play again', () => this.scene.restart());
  }

  addShop() {
    const shop = this.addButton(320, `Wide basket: ${price} gems`, async () => {
      shop.setText('One moment …').disableInteractive();
      const { outcome } = await this.ads.wallet.spend('gems', price, { id: item, reason: item });
      if (!shop.active) return;
      shop.setText(shopTexts[outcome] ?? 'That did not work. Try again');
      if (outcome !== 'spent' && outcome !== 'pending') shop.setInteractive();
    });
  }

  addButton(y, label, onPress) {
    const button = this.add.text(180, y, label, textStyle).setOrigin(0.5);
    return button.setInteractive({ useHandCursor: true }).on('pointerup', onPress);
  }
}
