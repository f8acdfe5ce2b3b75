import { Kind, parse } from 'graphql';
import { type Project, remembered } from '@twofold/schema';

export type Root = 'query' | 'mutation' | 'subscription';

const USUAL: Readonly<Record<Root, string>> = {
  query: 'Query',
  mutation: 'Mutation',
  subscription: 'Subscription',
};

/**
 * The names of the root types: `Query` and so on, unless the schema definition says otherwise. They
 * are searched once in the SDL, because several files of a run need them.
 */
export const rootNames = remembered(({ sdl }: Project): Readonly<Record<Root, string>> =>
  /\bschema\s*[@{]/.test(sdl) ? { ...USUAL, ...definedNames(sdl) } : USUAL,
);

function definedNames(sdl: string): Partial<Record<Root, string>> {
  const nodes = parse(sdl, { noLocation: true }).definitions.filter(
    (node) => node.kind === Kind.SCHEMA_DEFINITION || node.kind === Kind.SCHEMA_EXTENSION,
  );
  return Object.fromEntries(
    nodes
      .flatMap((node) => node.operationTypes ?? [])
      .map((type) => [type.operation, type.type.name.value]),
  );
}
