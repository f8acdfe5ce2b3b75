import type { GraphQLField, GraphQLObjectType } from 'graphql';
import { hasKey, type ClassifiedType } from '../build/classify.ts';
import { camelCase, snakeCase } from '../names.ts';
import type { Change } from '../parse/changes.ts';
import type { Finding } from '../parse/places.ts';
import { finding, type Rule } from './finding.ts';

type Field = GraphQLField<unknown, unknown>;

/**
 * ENTITY_KEY_MISSING, ENTITY_KEY_TYPE, ENTITY_KEY_NAME, SOFT_DELETE_TYPE: a type with a table needs
 * `id: ID!` or `id: Int!`.
 */
export const entityKey: Rule = function* ({ facts, project }) {
  const isDeclared = facts.schema.getType('DateTime') !== undefined;
  for (const classified of facts.types.values()) {
    const { type, directives, role } = classified;
    yield* softDelete(classified, isDeclared);
    const id = type.getFields()['id'];
    if (directives.table) continue;
    if (directives.entity?.persist && !hasKey(type)) yield keyMissing(type, id);
    else if (role === 'entity' && project.ids === 'uuid' && String(id?.type) === 'Int!')
      yield noNumber(type, id);
    else if (role === 'value' && !directives.entity) {
      if (id) yield keyType(type, id);
      else yield* keyName(type);
    }
  }
};

function* softDelete(
  { type, directives }: ClassifiedType,
  isDeclared: boolean,
): Generator<Finding> {
  const deleted =
    directives.entity?.softDelete &&
    Object.values(type.getFields()).find(({ name }) => snakeCase(name) === 'deleted_at');
  if (!deleted || String(deleted.type) === 'DateTime') return;
  const { astNode } = type;
  const declared: Change[] = astNode
    ? [{ kind: 'definition', beside: astNode, text: 'scalar DateTime' }]
    : [];
  yield finding('SOFT_DELETE_TYPE', deleted.astNode?.name, {
    summary: `${type.name}.${deleted.name} marks removed rows and has to be a DateTime that may be null`,
    changes: [...retype(deleted, 'DateTime'), ...(isDeclared ? [] : declared)],
  });
}

function keyMissing(type: GraphQLObjectType, id: Field | undefined): Finding {
  const { astNode } = type;
  const added: Change[] = astNode
    ? [{ kind: 'member', of: astNode, text: 'id: ID!', first: true }]
    : [];
  return finding('ENTITY_KEY_MISSING', id?.astNode?.name ?? astNode?.name, {
    summary: `${type.name} is marked @entity and has no key`,
    why: 'a row is found by its field id: ID!',
    changes: id ? retype(id, 'ID!') : added,
  });
}

function noNumber(type: GraphQLObjectType, id: Field | undefined): Finding {
  return finding('ENTITY_KEY_TYPE', id?.astNode?.name, {
    summary: `${type.name}.id is Int!, and the keys of this project are UUIDs`,
    why: 'the manifest says database: { ids: uuid }',
    changes: id && retype(id, 'ID!'),
  });
}

function keyType(type: GraphQLObjectType, id: Field): Finding {
  const { astNode } = type;
  const none: Change[] = astNode
    ? [{ kind: 'directive', on: astNode, name: 'entity', args: { persist: 'false' } }]
    : [];
  const asTable = { title: 'a table', changes: retype(id, 'ID!') };
  const asValue = { title: 'no table', changes: none };
  return finding('ENTITY_KEY_TYPE', id.astNode?.name, {
    summary: `${type.name}.id is ${String(id.type)}, so ${type.name} is no table`,
    why: 'only id: ID! or id: Int! makes a type a table',
    mends: isPromised(type, 'id') ? [asValue] : [asTable, asValue],
    severity: 'warning',
  });
}

/**
 * `_id: ID!` and `postId: ID!` are keys in other frameworks but not here, so a finding has to say
 * that.
 */
function* keyName(type: GraphQLObjectType): Generator<Finding> {
  const names = ['_id', 'ID', 'Id', `${camelCase(type.name)}Id`, `${camelCase(type.name)}_id`];
  const key = Object.values(type.getFields()).find(
    (field) => names.includes(field.name) && ['ID!', 'Int!'].includes(String(field.type)),
  );
  const name = key?.astNode?.name;
  if (!key || !name) return;
  yield finding('ENTITY_KEY_NAME', name, {
    summary: `${type.name}.${key.name} is no key, so ${type.name} is no table`,
    why: 'a type is a table by its field id; the column is called id too',
    fix: (line) =>
      line ||
      `call it id, in the interface too, or @entity(persist: false) if ${type.name} is no table`,
    changes: isPromised(type, key.name)
      ? undefined
      : [{ kind: 'replace', node: name, text: 'id', within: key.astNode! }],
    severity: 'warning',
  });
}

/** Whether an interface declares the field, so that its name and type are fixed. */
function isPromised(type: GraphQLObjectType, name: string): boolean {
  return type.getInterfaces().some((face) => face.getFields()[name]);
}

function retype({ astNode }: Field, text: string): Change[] {
  return astNode ? [{ kind: 'replace', node: astNode.type, text, within: astNode }] : [];
}
