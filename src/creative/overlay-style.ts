/**
 * The overlay's styles. Games customize them with the custom properties `--trueward-accent`, `--trueward-on-accent`,
 * `--trueward-background`, `--trueward-text` and `--trueward-font` on `:root`. If a word in the title does not fit next
 * to the controls, the title moves to its own row. Rules for `::slotted()` are `!important`, because the reset in
 * `host.ts` is.
 */
export const overlayStyle = `
:host { display: contents !important }
[hidden] { display: none !important }
dialog {
  --trueward-ui-accent: var(--trueward-accent, #ffc857);
  --trueward-ui-on-accent: var(--trueward-on-accent, #1b1402);
  --trueward-ui-text: var(--trueward-text, #f4f5fa);
  --trueward-ui-background: var(--trueward-background, #0c0e16);
  --trueward-ui-unit: clamp(14px, 8px + 1.1vmin, 34px);
  position: fixed; inset: 0; box-sizing: border-box; margin: 0; border: 0;
  width: 100%; height: 100%; max-width: none; max-height: none;
  padding: env(safe-area-inset-top) env(safe-area-inset-right) env(safe-area-inset-bottom) env(safe-area-inset-left);
  overflow: hidden; color: var(--trueward-ui-text); background: var(--trueward-ui-background);
  font: var(--trueward-ui-unit)/1.35 var(--trueward-font, system-ui, sans-serif);
  color-scheme: dark; user-select: none; -webkit-user-select: none; touch-action: pinch-zoom;
  overscroll-behavior: contain;
}
.frame { display: flex; flex-direction: column; height: 100%; outline: 0; animation: appear .16s ease-out }
@keyframes appear { from { opacity: 0 } }
header { display: flex; flex-wrap: wrap; justify-content: end; align-items: center; gap: .2em .6em; padding: .55em .8em; min-height: max(2.6em, 44px) }
.text { flex: auto; width: min-content; min-width: 0 }
p, h2 { margin: 0; overflow-wrap: anywhere }
.text p { overflow-wrap: break-word }
.title { font-weight: 650; line-height: 1.2 }
.kind { font-size: .78em; opacity: .72 }
.time { font-variant-numeric: tabular-nums; font-weight: 600; white-space: nowrap; padding: .2em .7em; border-radius: 9em; background: #ffffff1f }
button, a {
  box-sizing: border-box; display: inline-flex; align-items: center; justify-content: center; gap: .5em;
  min-width: max(2.6em, 44px); min-height: max(2.6em, 44px); margin: 0; border: 0; border-radius: 9em; padding: 0 1.2em;
  font: inherit; font-weight: 600; text-decoration: none; color: inherit; background: #ffffff24; cursor: pointer;
}
button:hover, a:hover { background: #ffffff3d }
:focus-visible { outline: 3px solid var(--trueward-ui-accent); outline-offset: 2px }
.frame:focus-visible { outline: 0 }
header button { flex: none; padding: 0 }
svg { width: 1.4em; height: 1.4em; fill: none; stroke: currentColor; stroke-width: 2; stroke-linecap: round; stroke-linejoin: round }
.main { color: var(--trueward-ui-on-accent); background: var(--trueward-ui-accent) }
.main:hover { background: var(--trueward-ui-accent); filter: brightness(1.1) }
progress { appearance: none; display: block; flex: none; width: 100%; height: 4px; border: 0; background: #ffffff24 }
progress::-webkit-progress-bar { background: transparent }
progress::-webkit-progress-value { background: var(--trueward-ui-accent); }
progress::-moz-progress-bar { background: var(--trueward-ui-accent) }
.stage { position: relative; flex: 1; min-height: 0; display: grid; grid-template: 100% / 100%; place-items: center; container-type: size; overflow: hidden }
::slotted(*) { display: block !important; touch-action: pinch-zoom !important }
::slotted(img), ::slotted(video) {
  width: 100% !important; height: 100% !important; object-fit: contain !important;
}
::slotted(iframe) {
  width: min(100cqw, 100cqh * var(--trueward-ratio, 1.6)) !important; height: auto !important;
  aspect-ratio: var(--trueward-ratio, 1.6) !important; background: #fff !important;
  pointer-events: var(--trueward-pointer, auto) !important;
}
.play { position: absolute; padding: .9em 1.6em }
.over > footer { display: none }
footer { display: flex; justify-content: center; padding: .55em .8em }
.panel {
  position: absolute; inset: 0; display: grid; place-items: safe center; padding: 1em; overflow: auto; overscroll-behavior: contain; background: #070910c7;
  touch-action: pan-x pan-y pinch-zoom;
  animation: appear .2s ease-out;
}
.card {
  display: grid; gap: .8em; justify-items: stretch; width: min(100%, 25em); box-sizing: border-box; padding: 1.6em 1.4em 1.4em;
  text-align: center; border-radius: 1.2em; background: #1c2030; box-shadow: 0 1em 3em #0009;
}
.card h2 { font-size: 1.35em; line-height: 1.2; text-wrap: balance }
.card p { opacity: .86; text-wrap: balance }
.card .main { margin-top: .4em }
.live { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%) }
@media (max-height: 420px) { footer { padding: .3em } header { padding: .2em .6em } .card { gap: .5em; padding: .8em } .panel { padding: .5em } }
@media (max-height: 300px) { .end p { display: none } }
@media (max-height: 240px) {
  dialog { --trueward-ui-unit: 12px }
  .title { display: none }
  .card { grid-template-columns: 1fr 1fr; padding: .5em }
  .card h2, .card p { grid-column: 1 / -1; font-size: 1em }
  button, a { padding: 0 .4em }
  .play { top: .3em; padding: 0 1em }
  footer { position: absolute; right: 0; bottom: 0 }
}
@media (forced-colors: active) { button, a, .card { border: 1px solid } }
@media (prefers-reduced-motion: reduce) { *, ::slotted(*) { animation: none !important; transition: none !important } }
`;
