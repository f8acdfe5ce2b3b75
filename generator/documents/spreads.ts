import { remembered } from '@twofold/schema';
import { type FragmentDefinitionNode, visit } from 'graphql';
import type { FoundDefinition } from './found-definition.ts';

/** The names of the fragments that a definition spreads, also through others, sorted. */
export function spreadsWithin(
  node: FoundDefinition['node'],
  fragmentOf: (name: string) => FragmentDefinitionNode | undefined,
): string[] {
  const names = new Set<string>();
  const open: FoundDefinition['node'][] = [node];
  for (const each of open)
    for (const name of directSpreads(each)) {
      if (names.has(name)) continue;
      names.add(name);
      const fragment = fragmentOf(name);
      if (fragment) open.push(fragment);
    }
  return [...names].sort();
}

const directSpreads = remembered((node: FoundDefinition['node']): readonly string[] => {
  const names: string[] = [];
  visit(node, { FragmentSpread: ({ name }) => void names.push(name.value) });
  return names;
});
