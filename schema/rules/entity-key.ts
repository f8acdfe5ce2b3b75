import { hasKey } from '../build/classify.ts';
import { snakeCase } from '../names.ts';
import { finding } from './finding.ts';
import type { Rule } from './finding.ts';

/** ENTITY_KEY_MISSING, ENTITY_KEY_TYPE, SOFT_DELETE_TYPE: what is kept in a table has `id: ID!`. */
export const entityKey: Rule = function* ({ facts }) {
  for (const { type, directives, role } of facts.types.values()) {
    const deleted =
      directives.entity?.softDelete &&
      Object.values(type.getFields()).find(({ name }) => snakeCase(name) === 'deleted_at');
    if (deleted && String(deleted.type) !== 'DateTime') {
      yield finding(
        'SOFT_DELETE_TYPE',
        `${type.name}.${deleted.name} marks removed rows and has to be a DateTime that may be null`,
        deleted.astNode?.name,
        { fix: `${deleted.name}: DateTime` },
      );
    }
    const id = type.getFields()['id'];
    if (directives.entity?.persist && !hasKey(type)) {
      yield finding(
        'ENTITY_KEY_MISSING',
        `${type.name} is marked @entity and has no key`,
        id?.astNode?.name ?? type.astNode?.name,
        {
          why: 'a row is found by its field id: ID!',
          fix: 'id: ID!',
        },
      );
    } else if (role === 'value' && id && !directives.entity) {
      yield finding(
        'ENTITY_KEY_TYPE',
        `${type.name}.id is ${String(id.type)}, so ${type.name} is no table`,
        id.astNode?.name,
        {
          why: 'only id: ID! makes a type a table',
          fix: `id: ID!   or, if it is meant so: type ${type.name} @entity(persist: false)`,
        },
        'warning',
      );
    }
  }
};
