import { useEffect, useRef } from 'react';
import { useFormState } from 'react-hook-form';

/**
 * Scrolls to the first field with an error whenever a form could not be saved, and focuses it, whether the form or the
 * service found the error. The field and its message are then in the middle of the view, not under a bar.
 */
export function FirstError() {
  const marker = useRef<HTMLSpanElement>(null);
  const { errors, submitCount, isSubmitting } = useFormState();
  const handled = useRef(0);
  const hasErrors = Object.keys(errors).some((name) => name !== 'root');
  useEffect(() => {
    if (isSubmitting || !hasErrors || handled.current === submitCount) return;
    handled.current = submitCount;
    // Folded fields open first.
    requestAnimationFrame(() => {
      const field = marker.current
        ?.closest('form')
        ?.querySelector<HTMLElement>('[aria-invalid=true], [data-invalid=true]');
      field?.focus({ preventScroll: true });
      field?.scrollIntoView({ block: 'center' });
    });
  }, [errors, hasErrors, isSubmitting, submitCount]);
  return <span ref={marker} hidden />;
}
