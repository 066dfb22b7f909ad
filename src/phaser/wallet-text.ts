import type * as Phaser from 'phaser';
import type { Ads } from '../ads.ts';

/** Options for `addWalletText()`. */
export interface WalletTextOptions {
  /** The type of the balance, such as `coins`. */
  type: string;
  /** The text’s position, in scene coordinates. */
  x: number;
  y: number;
  /** Returns the text. Default: the balance in the ads’ language, such as `1,250`. */
  label?: (balance: number) => string;
  /** Text style. */
  style?: Phaser.Types.GameObjects.Text.TextStyle;
}

/**
 * Adds a text that follows one balance of the player’s wallet, and reads the wallet. It shows the last known balance, or
 * 0 while it is not known. Screen readers read it too. It is destroyed with its scene.
 */
export function addWalletText(
  ads: Pick<Ads, 'on' | 'wallet'>,
  scene: Phaser.Scene,
  { type, x, y, label, style }: WalletTextOptions,
  locale: string,
): Phaser.GameObjects.Text {
  const format = new Intl.NumberFormat(locale);
  const toText = label ?? ((balance) => format.format(balance));
  const text = scene.add.text(x, y, '', { fontSize: '16px', color: '#ffffff', ...style });
  // The canvas element's content is what screen readers read instead of the canvas.
  const fallback = scene.game.canvas.ownerDocument.createElement('p');
  scene.game.canvas.append(fallback);
  const write = (): void => {
    const shown = toText(ads.wallet.balance(type));
    text.setText(shown);
    if (fallback.textContent !== shown) fallback.textContent = shown;
  };
  const removeListener = ads.on('change', write);
  text.once('destroy', () => {
    removeListener();
    fallback.remove();
  });
  write();
  void ads.wallet.refresh();
  return text;
}
