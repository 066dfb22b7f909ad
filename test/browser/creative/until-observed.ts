/**
 * Resolves once every IntersectionObserver created so far has been notified of the current state. It waits for a new
 * observer, which receives its first notification in the next frame, after the observers that were created earlier.
 */
export const untilObserved = (element: Element): Promise<void> =>
  new Promise((resolve) => {
    const observer = new IntersectionObserver(() => {
      observer.disconnect();
      resolve();
    });
    observer.observe(element);
  });
