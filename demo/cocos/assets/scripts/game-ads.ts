import * as cc from 'cc';
import { createTruewardComponent, type CocosAdsOptions } from 'trueward/cocos';
import { addCoinsOnce } from './wallet';

const { ccclass, property } = cc._decorator;

/** Add this component to a root node of the first scene; that node then persists for the whole game. */
@ccclass('GameAds')
export class GameAds extends createTruewardComponent(cc) {
  @property
  publishableKey = '';

  @property
  serviceUrl = '';

  override adsOptions(): CocosAdsOptions {
    return {
      publishableKey: this.publishableKey,
      serviceUrl: this.serviceUrl,
      userRef: cc.sys.localStorage.getItem('player') ?? 'guest',
    };
  }

  /** Receives every confirmed reward, including rewards for ads that were watched before a crash or while offline. */
  override onReward({ decisionId, reward }: Parameters<typeof addCoinsOnce>[0]): void {
    addCoinsOnce({ decisionId, reward });
  }
}
