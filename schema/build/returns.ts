import { getNamedType, getNullableType, isListType, type GraphQLField } from 'graphql';
import type { Returns } from '../model.ts';
import { camelCase } from '../names.ts';
import type { EntityFact, FieldFact } from './facts.ts';
import { answeredType } from './result-types.ts';
import { Refusal, type Shapes } from './shapes.ts';

type Field = GraphQLField<unknown, unknown>;
type Verb = 'CREATE' | 'UPDATE' | 'DELETE';

/**
 * What a mutation returns: the row, its id, whether it worked, or a payload that contains some of
 * these.
 *
 * @example
 * answerOf(shapes, field, user, 'CREATE') // { kind: 'payload', type: 'CreateUserPayload', entity: 'user' }
 */
export function answerOf(
  shapes: Shapes,
  field: FieldFact,
  entity: EntityFact,
  verb: Verb,
): Returns {
  if (field.type.list) throw new Refusal('it answers with a list');
  const named = answeredType(shapes.facts, field, entity);
  if (named.name === entity.name) return { kind: 'entity' };
  if (named.name === 'ID') return { kind: 'id' };
  if (named.name === 'Boolean') return { kind: 'boolean' };
  const payload = shapes.facts.types.get(named.name);
  if (payload?.role !== 'payload')
    throw new Refusal(`${field.type.text} is neither ${entity.name}, nor ID, Boolean or a payload`);
  return payloadOf(named.name, Object.values(payload.type.getFields()), entity, verb);
}

/**
 * The answer of a mutation of several rows: the rows, their number, or a payload that contains some
 * of these.
 *
 * @example
 * answerOfMany(shapes, field, tag) // { kind: 'rows' }
 */
export function answerOfMany(shapes: Shapes, field: FieldFact, entity: EntityFact): Returns {
  if (field.named.name === entity.name && field.type.list) return { kind: 'rows' };
  if (field.named.name === 'Int' && !field.type.list) return { kind: 'count' };
  const named = answeredType(shapes.facts, field, entity);
  const payload = shapes.facts.types.get(named.name);
  const parts = payload?.role === 'payload' ? Object.values(payload.type.getFields()) : [];
  const rows = parts.find(
    ({ type }) => getNamedType(type).name === entity.name && isListType(getNullableType(type)),
  );
  const count = parts.find(
    ({ name, type }) =>
      ['count', 'affected', 'affectedRows'].includes(name) && getNamedType(type).name === 'Int',
  );
  if (field.type.list || (!rows && !count))
    throw new Refusal(
      `${field.type.text} is neither [${entity.name}!]!, nor Int, nor a payload with count`,
    );
  return {
    kind: 'payload',
    type: named.name,
    ...(rows && { rows: rows.name }),
    ...(count && { count: count.name }),
    ...okOf(parts),
    ...echoOf(parts),
  };
}

/** Whether the mutation worked. In an answer without errors this is always true. */
function okOf(fields: readonly Field[]): { readonly ok?: string } {
  const ok = fields.find(
    ({ name, type }) =>
      ['ok', 'success', 'deleted'].includes(name) && getNamedType(type).name === 'Boolean',
  );
  return ok ? { ok: ok.name } : {};
}

/** The fields of every payload: `clientMutationId`, and lists of errors. */
function echoOf(fields: readonly Field[]) {
  const echo = fields.find((field) => field.name === 'clientMutationId');
  const empty = fields.filter(
    (field) => /errors$/i.test(field.name) && isListType(getNullableType(field.type)),
  );
  return {
    ...(echo && { clientMutationId: echo.name }),
    ...(empty.length > 0 && { empty: empty.map((field) => field.name) }),
  };
}

function payloadOf(
  type: string,
  fields: readonly Field[],
  entity: EntityFact,
  verb: Verb,
): Returns {
  const holders = fields.filter(
    (field) =>
      getNamedType(field.type).name === entity.name && !isListType(getNullableType(field.type)),
  );
  const holder = holders.find((field) => field.name === entity.singular) ?? holders[0];
  const ids = new Set([
    'id',
    'deletedId',
    `${camelCase(entity.name)}Id`,
    `deleted${entity.name}Id`,
  ]);
  const id = fields.find((field) => ids.has(field.name) && getNamedType(field.type).name === 'ID');
  const ok = okOf(fields);
  if (!holder && !id && !ok.ok && verb !== 'DELETE')
    throw new Refusal(`${type} has no field of the type ${entity.name}`);
  return {
    kind: 'payload',
    type,
    ...(holder && { entity: holder.name }),
    ...(id && { id: id.name }),
    ...ok,
    ...echoOf(fields),
  };
}
