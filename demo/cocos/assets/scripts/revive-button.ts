import { _decorator, Button, Component, EventHandler, find } from 'cc';
import { GameAds } from './game-ads';

const { ccclass, property, requireComponent } = _decorator;

/** A button that offers a second life for watching an ad. */
@ccclass('ReviveButton')
@requireComponent(Button)
export class ReviveButton extends Component {
  @property
  placement = 'revive';

  /** Called to revive the player. */
  @property(EventHandler)
  revive = new EventHandler();

  private stopFollowing?: () => void;

  protected override onEnable(): void {
    this.node.on(Button.EventType.CLICK, this.watch, this);
    this.stopFollowing = this.ads?.on('change', this.follow, this);
    this.offer(false);
    this.follow();
  }

  protected override onDisable(): void {
    this.node.off(Button.EventType.CLICK, this.watch, this);
    this.stopFollowing?.();
  }

  /** Offers an ad only while there may be one, and preloads it as soon as it can be offered. */
  private follow(): void {
    const available = this.ads?.canShow(this.placement) ?? false;
    const wasOffered = this.getComponent(Button)?.interactable;
    this.offer(available);
    if (available && !wasOffered) void this.ads?.preload(this.placement);
  }

  private offer(available: boolean): void {
    const button = this.getComponent(Button);
    if (button) button.interactable = available;
  }

  /** Looked up by name, because the `GameAds` node outlives its scene. */
  private get ads() {
    return find('GameAds')?.getComponent(GameAds)?.ads;
  }

  private async watch(): Promise<void> {
    const result = await this.ads?.showRewarded(this.placement);
    if (result?.outcome !== 'rewarded' && result?.outcome !== 'pending') return;
    // The promise may resolve between two frames, so revive the player in the next update. The button's scene may
    // have ended in the meantime.
    if (this.isValid) this.scheduleOnce(() => this.revive.emit([]));
  }
}
