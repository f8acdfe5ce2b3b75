import {
  type FieldNode,
  type GraphQLField,
  type GraphQLObjectType,
  type GraphQLOutputType,
  isAbstractType,
  isLeafType,
  isListType,
  isNonNullType,
  type SelectionSetNode,
} from 'graphql';
import { ownResolver, rootName, type Engine } from '../engine.ts';
import { leadsToRoot } from '../root-again.ts';
import { collectFields, type SelectionContext } from '../plan/collect.ts';
import {
  abstractCompleter,
  leafCompleter,
  listCompleter,
  objectCompleter,
  requiredCompleter,
} from './complete.ts';
import { type Completer, type ExecutableField, type Fields, type Reads, leafOf } from './field.ts';

export interface Compiling {
  readonly engine: Engine;
  readonly selecting: SelectionContext;
}

type Selected = { readonly selectionSet?: SelectionSetNode | undefined };

/**
 * Compiles the fields of a selection on `type`. Nested selections are compiled when the first
 * object of their type occurs.
 */
export function compileFields(
  compiling: Compiling,
  type: GraphQLObjectType,
  nodes: readonly Selected[],
): Fields {
  const fields: ExecutableField[] = [];
  for (const [key, selected] of collectFields(compiling.selecting, type.name, nodes)) {
    const definition = compiling.selecting.schema.getField(
      type,
      (selected[0] as FieldNode).name.value,
    );
    if (definition)
      fields.push(
        compileField(compiling, type, definition, {
          key,
          lead: `${fields.length > 0 ? ',' : ''}${JSON.stringify(key)}:`,
          nodes: selected,
        }),
      );
  }
  return fields;
}

/** The nodes that select a field, and its name in the answer. */
type SelectedField = Pick<ExecutableField, 'key' | 'lead' | 'nodes'>;

function compileField(
  compiling: Compiling,
  parent: GraphQLObjectType,
  definition: GraphQLField<unknown, unknown>,
  asked: SelectedField,
): ExecutableField {
  const { engine } = compiling;
  const { name, type } = definition;
  const named = isNonNullType(type) ? type.ofType : type;
  const reads = readsOf(engine, parent, definition);
  const lacked = isNonNullType(type) && engine.mayLack?.(parent.name, name) === true;
  // Null is an error of the user's resolver, and for a planned value only that it was left out.
  const whole = lacked && !ownResolver(engine, parent.name, name) ? named : type;
  const leaf = leafOf(named);
  return {
    ...asked,
    name,
    parent,
    definition,
    required: isNonNullType(type) && !lacked,
    reads,
    resolve: definition.resolve ?? memberOf,
    complete: completerFor(compiling, whole, asked.nodes),
    leaf,
    member: reads.fromMember ? leaf : undefined,
    planned: reads.fromTree && isLeafType(named) && engine.isPlain(named.name),
  };
}

const ROOTS = ['query', 'mutation', 'subscription'] as const;

function readsOf(
  engine: Engine,
  { name: type }: GraphQLObjectType,
  { name, args, type: output }: GraphQLField<unknown, unknown>,
): Reads {
  if (name === '__typename') return { fromTree: false, fromMember: false, typename: true };
  if (leadsToRoot(engine.schema, output))
    return { fromTree: false, fromMember: false, typename: false };
  const { model } = engine;
  const entity = model.entities.get(type);
  const isRoot = ROOTS.some((root) => rootName(engine, root) === type);
  const ours = !type.startsWith('__') && !isRoot && !ownResolver(engine, type, name);
  const source = entity?.fields.get(name)?.source;
  const isPlanned =
    !entity ||
    (source !== undefined &&
      source.kind !== 'custom' &&
      !entity.bytes.some((column) => source.kind === 'column' && column.name === source.column));
  return {
    fromTree: ours && isPlanned,
    fromMember: ours && !entity && args.length === 0,
    typename: false,
  };
}

/** The default resolver: reads the property of the parent object that has the field's name. */
const memberOf = (
  source: any,
  args: unknown,
  context: unknown,
  info: { readonly fieldName: string },
) => {
  const value =
    typeof source === 'object' || typeof source === 'function'
      ? source?.[info.fieldName]
      : undefined;
  return typeof value === 'function' ? source[info.fieldName](args, context, info) : value;
};

function completerFor(
  compiling: Compiling,
  type: GraphQLOutputType,
  nodes: readonly FieldNode[],
): Completer {
  if (isNonNullType(type)) return requiredCompleter(completerFor(compiling, type.ofType, nodes));
  if (isListType(type))
    return listCompleter(completerFor(compiling, type.ofType, nodes), isNonNullType(type.ofType));
  if (isLeafType(type)) return leafCompleter(type);
  const fieldsOf = lazily((object) => compileFields(compiling, object, nodes));
  return isAbstractType(type)
    ? abstractCompleter(type, fieldsOf)
    : objectCompleter(type, fieldsOf(type));
}

function lazily(
  compile: (type: GraphQLObjectType) => Fields,
): (type: GraphQLObjectType) => () => Fields {
  const known = new Map<GraphQLObjectType, () => Fields>();
  return (type) => {
    const found = known.get(type);
    if (found) return found;
    let fields: Fields | undefined;
    const made = () => (fields ??= compile(type));
    known.set(type, made);
    return made;
  };
}
