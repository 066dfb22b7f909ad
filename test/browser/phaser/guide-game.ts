import { CANVAS, Game, type GameObjects, Scene } from 'phaser';
import type { EarnedReward } from 'trueward';
import { TruewardPlugin, TruewardScenePlugin, type TruewardPluginData } from 'trueward/phaser';

export class Play extends Scene {
  coins = 0;
  label?: GameObjects.Text;

  create(): void {
    this.label = this.add.text(16, 12, 'Coins: 0');
    this.sceneAds.on('reward', this.addCoins, this);
    this.ads.addRewardedButton(this, { placement: 'double-coins', x: 180, y: 120 });
  }

  override update(): void {
    this.label?.setText(`Coins: ${this.coins}`);
  }

  addCoins({ reward }: EarnedReward): void {
    this.coins += reward.amount;
  }

  async die(): Promise<void> {
    const { outcome } = await this.ads.showRewarded('revive');
    if (outcome === 'rewarded' || outcome === 'pending') this.scene.restart();
  }
}

export function startGame(data: TruewardPluginData): Game {
  return new Game({
    type: CANVAS,
    width: 360,
    height: 220,
    scene: Play,
    plugins: {
      global: [{ key: 'trueward', plugin: TruewardPlugin, mapping: 'ads', start: true, data }],
      scene: [{ key: 'truewardScene', plugin: TruewardScenePlugin, mapping: 'sceneAds' }],
    },
  });
}
