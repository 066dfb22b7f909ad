/**
 * Whether a form has changes that are not saved. Each such form holds up the page when it is left: it
 * is asked as the browser would ask it.
 */
export function hasUnsavedChanges(): boolean {
  return !dispatchEvent(new Event('beforeunload', { cancelable: true }));
}
