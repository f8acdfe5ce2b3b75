import { isEnumType } from 'graphql';
import { readFieldDirectives } from '../directives/of-fields.ts';
import { finding, type Rule } from './finding.ts';

/** RENAMED_FROM_PRESENT: the old name in `@renamed` must no longer exist. */
export const renames: Rule = function* ({ facts }) {
  for (const entity of facts.entities.values()) {
    const from = entity.directives.renamed;
    if (from !== undefined && facts.schema.getType(from))
      yield present(entity.name, from, entity.node);
    for (const field of entity.fields.values()) {
      const old = field.directives.renamed;
      if (old !== undefined && entity.fields.has(old))
        yield present(`${entity.name}.${field.name}`, old, field.node);
    }
  }
  for (const type of Object.values(facts.schema.getTypeMap())) {
    if (!isEnumType(type) || type.name.startsWith('__')) continue;
    const values = new Set(type.getValues().map(({ name }) => name));
    for (const value of type.getValues()) {
      const { renamed } = readFieldDirectives([value.astNode ?? {}]);
      if (renamed !== undefined && values.has(renamed))
        yield present(`${type.name}.${value.name}`, renamed, value.astNode?.name);
    }
  }
};

function present(name: string, from: string, node: Parameters<typeof finding>[1]) {
  return finding('RENAMED_FROM_PRESENT', node, {
    summary: `${name} is said to be ${from} renamed, and ${from} is still there`,
    fix: '@renamed(from:) takes the name that is gone',
  });
}
