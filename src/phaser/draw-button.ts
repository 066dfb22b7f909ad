import type * as Phaser from 'phaser';
import type { RewardedButtonOptions } from './rewarded-button.ts';

const padding = { x: 14, y: 9 };
const resting = 0x55606b;

/** The picture of a button: a text on a box, with a ring while the keyboard is on it. */
export function drawButton(
  scene: Phaser.Scene,
  { color = 0x2f6f4f, style, x, y }: Pick<RewardedButtonOptions, 'color' | 'style' | 'x' | 'y'>,
): {
  container: Phaser.GameObjects.Container;
  write(label: string, enabled: boolean): void;
  focus(focused: boolean): void;
} {
  const { backgroundColor: _, ...textStyle } = { fontSize: '16px', color: '#ffffff', ...style };
  const box = scene.add.rectangle(0, 0, 1, 1, resting);
  const text = scene.add.text(0, 0, '', textStyle).setOrigin(0.5);
  const container = scene.add.container(x, y, [box, text]);
  container.setInteractive({
    hitArea: box,
    // In a container, (0, 0) of a press is its upper left corner.
    hitAreaCallback: (area: Phaser.GameObjects.Rectangle, pressX: number, pressY: number) =>
      pressX >= 0 && pressY >= 0 && pressX <= area.width && pressY <= area.height,
  });
  return {
    container,
    write(label, enabled) {
      text.setText(label);
      box.setSize(text.width + 2 * padding.x, text.height + 2 * padding.y).setOrigin(0.5);
      box.setFillStyle(enabled ? color : resting);
      container.setSize(box.width, box.height);
      if (container.input) container.input.cursor = enabled ? 'pointer' : '';
    },
    focus(focused) {
      if (focused) box.setStrokeStyle(3, 0xffffff);
      else box.setStrokeStyle();
    },
  };
}
