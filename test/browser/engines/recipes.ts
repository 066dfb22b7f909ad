import page from '../../../docs/engines.md?raw';

/** Every recipe on the page, by name, as its lines of code. */
export const recipes = new Map(
  Array.from(
    page.matchAll(/<!-- runs: (\w+) -->\n\n```js\n(.*?)```/gs),
    ([, name = '', code = '']) => [name, code.split('\n').filter((line) => line !== '')] as const,
  ),
);

/** Runs a recipe as a module (see `recipePlugin` in vitest.config.ts), and returns what it exports. */
export const importRecipe = <Exports>(name: string): Promise<Exports> =>
  import(/* @vite-ignore */ `/docs/engines.md?import&recipe=${name}`);
