/**
 * Resolves when every existing IntersectionObserver has been notified of the current state. It creates a new observer
 * and waits for its first notification. The browser notifies observers in the order in which they were created.
 */
export const waitUntilObserved = (element: Element): Promise<void> =>
  new Promise((resolve) => {
    const observer = new IntersectionObserver(() => {
      observer.disconnect();
      resolve();
    });
    observer.observe(element);
  });
