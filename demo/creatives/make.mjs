/**
 * Renders the demo's creatives into `dist/`: `node demo/creatives/make.mjs`. Requires ffmpeg (with libx264, libvpx-vp9,
 * libopus) and Chromium. The output is committed, so that the demo runs without these tools.
 */
import { execFileSync } from 'node:child_process';
import {
  copyFileSync,
  existsSync,
  mkdtempSync,
  mkdirSync,
  rmSync,
  statSync,
  readdirSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { chromium } from 'playwright';
import { meadowWaltz } from './music.mjs';

const seconds = 12;
const framesPerSecond = 24;
/** Maximum file size, in bytes. At this size, the video loads within a second or two on a slow mobile network. */
const maxBytes = 300_000;

const drawings = join(import.meta.dirname, 'drawings');
const dist = join(import.meta.dirname, 'dist');
const workDir = mkdtempSync(join(tmpdir(), 'creatives-'));
mkdirSync(dist, { recursive: true });

const executablePath = [process.env.CHROMIUM_PATH, '/usr/bin/chromium'].find(
  (path) => path && existsSync(path),
);
const browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] });
try {
  await drawFrames();
  encodeMeadow();
  await drawStill('harbour', 1200, 675);
  await drawStill('lobby-banner', 640, 100);
  copyFileSync(join(drawings, 'lantern.html'), join(dist, 'lantern.html'));
} finally {
  await browser.close();
  rmSync(workDir, { recursive: true });
}
for (const name of readdirSync(dist)) {
  const { size } = statSync(join(dist, name));
  console.log(`${name}: ${size} bytes`);
  if (size >= maxBytes) throw new Error(`${name} is ${size} bytes; the limit is ${maxBytes}`);
}

async function drawFrames() {
  const page = await browser.newPage();
  await page.goto(`file://${join(drawings, 'meadow.html')}`);
  for (let frame = 0; frame < seconds * framesPerSecond; frame += 1) {
    const url = await page.evaluate((t) => {
      window.drawFrame(t);
      return document.querySelector('canvas').toDataURL('image/png');
    }, frame / framesPerSecond);
    const file = join(workDir, `${String(frame).padStart(4, '0')}.png`);
    writeFileSync(file, Buffer.from(url.slice(url.indexOf(',') + 1), 'base64'));
  }
  await page.close();
}

function encodeMeadow() {
  writeFileSync(join(workDir, 'waltz.wav'), meadowWaltz(seconds));
  const input = [
    '-framerate',
    String(framesPerSecond),
    '-i',
    join(workDir, '%04d.png'),
    '-i',
    join(workDir, 'waltz.wav'),
  ];
  ffmpeg(...input, '-c:v', 'libx264', '-profile:v', 'baseline', '-level', '3.0', '-preset', 'veryslow',
    '-tune', 'animation', '-pix_fmt', 'yuv420p', '-crf', '29', '-g', '72', '-c:a', 'aac', '-ac', '1', '-b:a', '40k',
    '-movflags', '+faststart', join(dist, 'meadow.mp4')); // prettier-ignore
  ffmpeg(...input, '-c:v', 'libvpx-vp9', '-b:v', '0', '-crf', '40', '-g', '72', '-row-mt', '1', '-c:a', 'libopus',
    '-ac', '1', '-b:a', '40k', join(dist, 'meadow.webm')); // prettier-ignore
  ffmpeg('-i', join(workDir, '0250.png'), '-q:v', '4', join(dist, 'meadow-poster.jpg'));
}

async function drawStill(name, width, height) {
  const page = await browser.newPage({ viewport: { width, height } });
  await page.goto(`file://${join(drawings, `${name}.html`)}`);
  await page.screenshot({ path: join(dist, `${name}.png`) });
  await page.close();
}

function ffmpeg(...parameters) {
  execFileSync('ffmpeg', ['-y', '-loglevel', 'error', ...parameters], { stdio: 'inherit' });
}
