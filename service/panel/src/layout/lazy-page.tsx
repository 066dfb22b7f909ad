import { type ComponentType, type FunctionComponent, lazy, Suspense } from 'react';
import { Loading } from 'react-admin';

/**
 * Lazy-loads a page when it is first opened, so that the panel's first page stays small.
 *
 * The page has a boundary of its own: otherwise, the previous page would stay until the file has arrived, and a list
 * could still lead back to itself when its debounced search begins.
 */
export function page<Name extends string, Props extends object = object>(
  load: () => Promise<Record<Name, ComponentType<Props>>>,
  name: Name,
): FunctionComponent<Props> {
  const Page = lazy(async (): Promise<{ default: ComponentType<Props> }> => ({
    default: (await load())[name],
  }));
  return (props) => (
    <Suspense fallback={<Loading />}>
      <Page {...props} />
    </Suspense>
  );
}
