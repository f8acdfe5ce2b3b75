import {
  getNamedType,
  type GraphQLNamedType,
  isAbstractType,
  isInterfaceType,
  isObjectType,
  type SelectionSetNode,
} from 'graphql';
import { isOwn } from '../engine.ts';
import type { Run } from '../operation-run.ts';
import { isIncluded } from '../plan/collect.ts';

/**
 * The functions of the project that answer fields of an operation, as `Type.field`. A field of an
 * interface stands for those of its members.
 */
export function functionsOf({ engine, operation, variables }: Run): readonly string[] {
  const { schema } = engine;
  const found = new Set<string>();
  const spread = new Set<string>();
  const walk = ({ selections }: SelectionSetNode, type: GraphQLNamedType): void => {
    for (const selection of selections) {
      if (!isIncluded({ variables: variables.coerced }, selection.directives ?? [])) continue;
      if (selection.kind === 'Field') {
        const { value: name } = selection.name;
        for (const { name: owner } of membersOf(type))
          if (isOwn(engine, owner, name)) found.add(`${owner}.${name}`);
        const field = isObjectType(type) || isInterfaceType(type) ? type.getFields()[name] : null;
        if (field && selection.selectionSet) walk(selection.selectionSet, getNamedType(field.type));
        continue;
      }
      if (selection.kind === 'InlineFragment') {
        walk(selection.selectionSet, typeNamed(selection.typeCondition?.name.value) ?? type);
        continue;
      }
      const fragment = operation.fragments.get(selection.name.value);
      if (!fragment || spread.has(fragment.name.value)) continue;
      spread.add(fragment.name.value);
      walk(fragment.selectionSet, typeNamed(fragment.typeCondition.name.value) ?? type);
    }
  };
  const typeNamed = (name: string | undefined) => (name ? schema.getType(name) : undefined);
  const membersOf = (type: GraphQLNamedType) =>
    isAbstractType(type) ? schema.getPossibleTypes(type) : [type];
  const root = schema.getRootType(operation.node.operation);
  if (root) walk(operation.node.selectionSet, root);
  return [...found];
}
