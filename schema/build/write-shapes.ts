import { lookUp } from '../present.ts';
import { getNamedType, getNullableType, isInputObjectType, isListType } from 'graphql';
import type { GraphQLInputObjectType, GraphQLType } from 'graphql';
import { didYouMean } from '../did-you-mean.ts';
import type { Constraint, Write, WriteShape } from '../model.ts';
import { singularize } from '../names.ts';
import { storedAs } from './columns.ts';
import { readFieldDirectives } from '../directives/of-fields.ts';
import type { EntityFact, FieldFact } from './facts.ts';
import { isKeyScalar } from './keys.ts';
import { namedColumn, takes } from './named-columns.ts';
import { nestedWrite } from './nested-writes.ts';
import { isListEnd, readEach, Refusal, type Shapes } from './shapes.ts';

/** A field of an input object, or an argument, that is written. */
export interface WriteSource {
  readonly name: string;
  readonly type: GraphQLType;
  readonly constraint?: Constraint;
  /** Whether only hooks may set it: `@computed` on the argument or on the input's field. */
  readonly computed?: boolean;
}

/**
 * The columns and relations that an input type writes. `skip` are fields that name the row and are
 * not written.
 *
 * @example
 * inputShape(shapes, type, post) // { id: 'CreatePostInput:Post', entity: 'Post', writes: [{ kind: 'column', … }] }
 */
export function inputShape(
  shapes: Shapes,
  type: GraphQLInputObjectType,
  entity: EntityFact,
  skip: readonly string[] = [],
): WriteShape {
  const sources = Object.values(type.getFields()).map((field) =>
    source(field.name, field.type, field.astNode),
  );
  // An input that contains the key writes different fields in an update than in a create.
  const id = `${skip.length > 0 ? patchOf(type.name) : type.name}:${entity.name}`;
  return writeShape(
    shapes,
    id,
    sources.filter(({ name }) => !skip.includes(name)),
    entity,
    type.name,
  );
}

export function source(
  name: string,
  type: GraphQLType,
  node: Parameters<typeof readFieldDirectives>[0][number] | null | undefined,
): WriteSource {
  const { constraint, computed } = readFieldDirectives([node ?? {}]);
  return { name, type, ...(constraint && { constraint }), ...(computed && { computed }) };
}

/**
 * The shape is registered before it is complete, because `create` inputs may contain themselves.
 */
export function writeShape(
  shapes: Shapes,
  id: string,
  sources: readonly WriteSource[],
  entity: EntityFact,
  owner: string,
): WriteShape {
  const known = shapes.refused.get(id);
  if (known) throw known;
  const present = shapes.writes.get(id);
  if (present) return present;
  const writes: Write[] = [];
  const shape: WriteShape = { id, entity: entity.name, writes };
  shapes.writes.set(id, shape);
  shapes.open.add(id);
  readEach(
    sources,
    writes,
    (item) => writeOf(shapes, item, entity, owner),
    (refusal) => shapes.refused.set(id, shapes.refused.get(id) ?? refusal),
  );
  shapes.open.delete(id);
  const refusal = shapes.refused.get(id);
  if (refusal) throw refusal;
  return shape;
}

function writeOf(shapes: Shapes, item: WriteSource, entity: EntityFact, owner: string): Write {
  if (item.name === 'clientMutationId' || item.computed)
    return { kind: 'ignored', name: item.name, ...limitsOf(item) };
  const field = entity.fields.get(item.name);
  const write =
    (field && fieldWrite(shapes, item, field, owner)) ??
    keyWrite(shapes, item, entity) ??
    keysWrite(shapes, item, entity);
  if (!write)
    throw new Refusal(`${owner}.${item.name} is no field of ${entity.name}`, {
      fix: didYouMean(item.name, entity.fields.keys()),
    });
  if (isManaged(shapes, entity, write))
    throw new Refusal(
      `${owner}.${item.name} would write the membership, which changes by /api/auth/organizations/:id/members`,
    );
  return write;
}

function isManaged({ links }: Shapes, entity: EntityFact, write: Write): boolean {
  if (!('field' in write)) return false;
  const field = entity.fields.get(write.field);
  const link = field && links.byField.get(field);
  return link?.kind === 'join' && link.managed === true;
}

function fieldWrite(shapes: Shapes, item: WriteSource, field: FieldFact, owner: string): Write {
  const { facts } = shapes;
  const place = `${owner}.${item.name}`;
  if (field.name === 'id' && isMadeKey(shapes, field))
    throw new Refusal(`${place} would set the key, which the database makes`);
  const link = shapes.links.byField.get(field);
  if (link && field.directives.list?.where)
    throw new Refusal(`${place} would write a list with a where; write the relation itself`);
  if (link)
    return isInputObjectType(getNamedType(item.type))
      ? nestedWrite(shapes, item, field, inputShape)
      : directKeys(shapes, item, field, place);
  const stored = storedAs(field, facts);
  if (!stored)
    throw new Refusal(
      `${place} is not stored: ${field.owner}.${field.name} is answered by a function`,
    );
  const [given, wanted] = [getNamedType(item.type), field.named];
  if (isInputObjectType(given) && (stored !== 'json' || field.type.list)) {
    const change = operatorsWrite(item, field, given, { stored, place });
    if (change) shapes.operators.set(change, place);
    if (change) return change;
  }
  const column = namedColumn(shapes, entityOf(shapes, field), field.name);
  const fits = column ? takes(shapes, column, given.name) : given.name === wanted.name;
  if (!fits && !(stored === 'json' && isInputObjectType(given)))
    throw new Refusal(`${place} is ${given.name}, and the field is ${wanted.name}`);
  if (isListType(getNullableType(item.type)) !== field.type.list)
    throw new Refusal(`${place} is ${String(item.type)}, and the field is ${field.type.text}`);
  const constraint = item.constraint ?? field.directives.constraint;
  return {
    kind: 'column',
    name: item.name,
    column: field.snakeName,
    ...(constraint && { constraint }),
  };
}

const NUMBERS = ['increment', 'decrement', 'multiply'];
const NUMERIC: ReadonlySet<string> = new Set(['integer', 'bigint', 'real', 'decimal']);

/** An input of `increment`, `push` and the like: the new value is made from the old one. */
function operatorsWrite(
  { name, type: given, constraint }: WriteSource,
  { type, named, snakeName, directives }: FieldFact,
  input: GraphQLInputObjectType,
  { stored, place }: { readonly stored: string; readonly place: string },
): Write | undefined {
  const fields = Object.values(input.getFields());
  if (!fields.some((each) => ['set', 'push', ...NUMBERS].includes(each.name))) return undefined;
  const words = type.list
    ? ['set', 'push']
    : NUMERIC.has(stored) && !directives.version
      ? ['set', ...NUMBERS]
      : [];
  const wrong = fields.find((word) => {
    const list = isListType(getNullableType(word.type));
    const fits = word.name === 'push' || list === type.list;
    return !words.includes(word.name) || getNamedType(word.type).name !== named.name || !fits;
  });
  if (wrong || isListType(getNullableType(given)))
    throw new Refusal(
      `${input.name}.${wrong?.name ?? ''} does not fit ${place}, which is ${type.text}`,
      {
        code: 'OPERATOR_UNFIT',
        node: wrong?.astNode?.name,
        fix:
          words.length > 0
            ? `the words are ${words.join(', ')}, with values of ${named.name}`
            : `${name}: ${type.text}`,
      },
    );
  const limits = constraint ?? directives.constraint;
  return { kind: 'column', name, column: snakeName, ...(limits && { constraint: limits }) };
}

const entityOf = ({ facts }: Shapes, { owner }: FieldFact): EntityFact =>
  lookUp(facts.entities, owner);

/** A key that callers give has no default, and one that the server makes may be given, too. */
function isMadeKey({ facts, columns }: Shapes, { owner }: FieldFact): boolean {
  const key = columns.get(owner)?.find(({ name }) => name === 'id');
  return facts.manifest.values.database.ids !== 'uuid' && (!key || key.default !== undefined);
}

/** `author: ID!` and `tags: [ID!]` contain the keys of the rows under the relation's name. */
function directKeys({ facts }: Shapes, item: WriteSource, field: FieldFact, place: string): Write {
  const many = isListType(getNullableType(item.type));
  const wanted = field.type.list;
  if (!isKeyScalar(getNamedType(item.type).name, facts) || many !== wanted)
    throw new Refusal(
      `${place} is ${String(item.type)}; a relation is set by ${wanted ? '[ID!]' : 'ID'}, ` +
        'or by an input with connect or create',
    );
  return many
    ? { kind: 'keys', name: item.name, field: field.name, ...limitsOf(item) }
    : { kind: 'key', name: item.name, field: field.name };
}

const limitsOf = ({ constraint }: WriteSource) => (constraint ? { constraint } : {});

/** `authorId` for `author`. */
function keyWrite(shapes: Shapes, item: WriteSource, entity: EntityFact): Write | undefined {
  const stem = /^(.+?)(?:Id|_id|ID)$/.exec(item.name)?.[1];
  const field = stem === undefined ? undefined : entity.fields.get(stem);
  const single = field && shapes.links.byField.has(field) && !isListEnd(shapes, field);
  return single && isKeyScalar(String(getNullableType(item.type)), shapes.facts)
    ? { kind: 'key', name: item.name, field: field.name }
    : undefined;
}

/**
 * Whether a list can be written. If it has a `where`, it is not clear which rows a write would
 * keep.
 */
const isWritableList = (shapes: Shapes, field: FieldFact): boolean =>
  isListEnd(shapes, field) && shapes.links.byField.has(field) && !field.directives.list?.where;

/** `tagIds` for `tags`. */
function keysWrite(shapes: Shapes, item: WriteSource, entity: EntityFact): Write | undefined {
  const stem = /^(.+?)(?:Ids|_ids|IDs)$/.exec(item.name)?.[1];
  if (
    stem === undefined ||
    !isKeyScalar(getNamedType(item.type).name, shapes.facts) ||
    !isListType(getNullableType(item.type))
  )
    return undefined;
  // `categoryIds` is about `categories`, also beside `category`.
  const field = [...entity.fields.values()].find(
    (each) =>
      isWritableList(shapes, each) && (each.name === stem || singularize(each.name) === stem),
  );
  return field
    ? { kind: 'keys', name: item.name, field: field.name, ...limitsOf(item) }
    : undefined;
}

const PATCH = '#patch';

/**
 * The input type or the mutation that a write shape was made from.
 *
 * @example shapeOwner('TagInput#patch:Tag') // 'TagInput'
 */
export function shapeOwner(id: string): string {
  return id.slice(0, id.lastIndexOf(':')).replace(PATCH, '');
}

/** The shape id of an input that also contains the key of the row. */
export const patchOf = (input: string) => `${input}${PATCH}`;
