import { expect, it } from 'vitest';

/** The names that a program can import at run time. A change here is a change for everybody who has a project. */
const PUBLIC: Readonly<Record<string, readonly string[]>> = {
  runtime: [],
  schema: [],
};

it.each(Object.keys(PUBLIC))('%s exports exactly the names that are listed', async (name) => {
  const module = (await import(`@twofold/${name}`)) as Record<string, unknown>;
  expect(Object.keys(module).sort()).toEqual(PUBLIC[name]);
});
