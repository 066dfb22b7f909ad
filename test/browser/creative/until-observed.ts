/**
 * Resolves once the observers of what is on the screen have been told how things are now: an observer is
 * told of a new element with the next frame, and those that were made before it come first.
 */
export const untilObserved = (element: Element): Promise<void> =>
  new Promise((resolve) => {
    const observer = new IntersectionObserver(() => {
      observer.disconnect();
      resolve();
    });
    observer.observe(element);
  });
