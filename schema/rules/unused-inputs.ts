import { isInputObjectType, type ASTNode } from 'graphql';
import type { Built } from '../build/built.ts';
import type { Finding } from '../parse/places.ts';
import { shapeOwner } from '../build/write-shapes.ts';
import { finding, type Rule } from './finding.ts';

/** INPUT_UNUSED: a member of an input that is for hooks alone, where the entity has no hooks. */
export const unusedInputs: Rule = function* (built) {
  for (const { id, entity, writes } of built.shapes.writes.values()) {
    if (built.facts.hooks[entity]) continue;
    for (const { kind, name } of writes)
      if (kind === 'ignored' && name !== 'clientMutationId')
        yield unused(built, shapeOwner(id), name, entity);
  }
};

function unused(built: Built, owner: string, name: string, entity: string): Finding {
  return finding('INPUT_UNUSED', definitionOf(built, owner, name), {
    summary: `${owner}.${name} is for hooks, and ${entity} has none`,
    why: '@computed keeps it out of the table, so that only a hook could use it',
    fix: `write src/hooks/${entity}.ts, or remove the field`,
    severity: 'warning',
  });
}

function definitionOf(
  { facts, operations }: Built,
  owner: string,
  name: string,
): ASTNode | undefined {
  const type = facts.schema.getType(owner);
  if (isInputObjectType(type)) return type.getFields()[name]?.astNode?.name;
  const operation = operations.find(({ field }) => `${field.owner}.${field.name}` === owner);
  return operation?.field.field.args.find((argument) => argument.name === name)?.astNode?.name;
}
