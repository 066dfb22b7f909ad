/**
 * Resolves once every IntersectionObserver created so far has been notified of the current state: a new observer
 * receives its first notification in the next frame, after those created earlier.
 */
export const untilObserved = (element: Element): Promise<void> =>
  new Promise((resolve) => {
    const observer = new IntersectionObserver(() => {
      observer.disconnect();
      resolve();
    });
    observer.observe(element);
  });
