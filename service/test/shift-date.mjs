/**
 * Preloaded into a process (`node --import`). Its wall clock is off by `SHIFT_DATE_MS`, and is set by another
 * `STEP_DATE_MS` after `STEP_DATE_AFTER_MS`.
 */
const RealDate = Date;
let shiftMs = Number(process.env['SHIFT_DATE_MS'] ?? 0);
const stepMs = Number(process.env['STEP_DATE_MS'] ?? 0);
setTimeout(() => (shiftMs += stepMs), Number(process.env['STEP_DATE_AFTER_MS'] ?? 0)).unref();

globalThis.Date = /** @type {DateConstructor} */ (
  new Proxy(RealDate, {
    construct: (target, args, newTarget) =>
      Reflect.construct(target, args.length === 0 ? [target.now() + shiftMs] : args, newTarget),
    get: (target, name) =>
      name === 'now' ? () => target.now() + shiftMs : Reflect.get(target, name),
  })
);
