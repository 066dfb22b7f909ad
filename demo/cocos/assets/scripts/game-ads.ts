import * as cc from 'cc';
import { createTruewardComponent, type CocosAdsOptions } from 'trueward/cocos';
import { addCoinsOnce } from './wallet';

const { ccclass, property } = cc._decorator;

/** Put it on a node at the root of the first scene; that node then stays for the whole game. */
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

  /** Every confirmed reward comes here, also one that was watched before a crash or while offline. */
  override onReward({ decisionId, reward }: Parameters<typeof addCoinsOnce>[0]): void {
    addCoinsOnce({ decisionId, reward });
  }
}
