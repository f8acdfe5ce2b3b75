import type { JsonSchema } from '@twofold/schema';
import {
  type FieldNode,
  type GraphQLObjectType,
  type GraphQLOutputType,
  isAbstractType,
  isLeafType,
  isListType,
  isNonNullType,
  isObjectType,
  Kind,
  type SelectionSetNode,
} from 'graphql';
import type { PreparedOperation } from '../../graphql/document-cache.ts';
import type { Engine } from '../../graphql/engine.ts';
import { leafOf, orNull } from './input-schema.ts';

/** The most objects that a schema describes. Objects below them are described only as objects. */
const MOST_OBJECTS = 500;

interface Describing {
  readonly engine: Engine;
  readonly fragments: PreparedOperation['fragments'];
  /** Objects that may still be described. */
  left: number;
}

/** The data of an operation as JSON Schema: its selection, by the names in the answer. */
export function outputSchemaOf(engine: Engine, { node, fragments }: PreparedOperation): JsonSchema {
  const root = engine.schema.getRootType(node.operation)!;
  const describing = { engine, fragments, left: MOST_OBJECTS };
  return objectSchema(describing, root, [node.selectionSet]);
}

/** A name in the answer, and every selection that it merges. */
interface Selected {
  readonly field: FieldNode;
  readonly below: SelectionSetNode[];
  /** Whether the field may be absent because of `@skip` and `@include`. */
  optional: boolean;
}

function objectSchema(
  describing: Describing,
  type: GraphQLObjectType,
  selections: readonly SelectionSetNode[],
): JsonSchema {
  if (describing.left-- <= 0) return { type: 'object' };
  const selected = new Map<string, Selected>();
  for (const each of selections) collect(describing, type, { within: each, selected });
  const properties = [...selected].map(
    ([key, { field, below }]) => [key, fieldSchema(describing, type, field, below)] as const,
  );
  const required = [...selected].filter(([, { optional }]) => !optional).map(([key]) => key);
  return {
    type: 'object',
    properties: Object.fromEntries(properties),
    ...(required.length > 0 && { required }),
  };
}

interface Collecting {
  readonly within: SelectionSetNode;
  readonly selected: Map<string, Selected>;
  readonly optional?: boolean;
}

/** Adds to `selected` each field that the selection has for an object of `type`, by its key in the answer. */
function collect(
  describing: Describing,
  type: GraphQLObjectType,
  { within, selected, optional = false }: Collecting,
): void {
  for (const selection of within.selections) {
    const decided = optional || isConditional(selection);
    if (selection.kind === Kind.FIELD) {
      const key = selection.alias?.value ?? selection.name.value;
      const known = selected.get(key) ?? { field: selection, below: [], optional: true };
      known.optional &&= decided;
      if (selection.selectionSet) known.below.push(selection.selectionSet);
      selected.set(key, known);
      continue;
    }
    const fragment =
      selection.kind === Kind.INLINE_FRAGMENT
        ? selection
        : describing.fragments.get(selection.name.value);
    if (fragment && applies(describing, type, fragment.typeCondition?.name.value))
      collect(describing, type, { within: fragment.selectionSet, selected, optional: decided });
  }
}

const isConditional = ({ directives = [] }: Pick<FieldNode, 'directives'>): boolean =>
  directives.some(({ name }) => name.value === 'skip' || name.value === 'include');

function applies(
  { engine: { schema } }: Describing,
  type: GraphQLObjectType,
  condition: string | undefined,
): boolean {
  if (condition === undefined || condition === type.name) return true;
  const wanted = schema.getType(condition);
  return isAbstractType(wanted) && schema.isSubType(wanted, type);
}

function fieldSchema(
  describing: Describing,
  parent: GraphQLObjectType,
  { name }: FieldNode,
  below: readonly SelectionSetNode[],
): JsonSchema {
  if (name.value === '__typename') return { type: 'string', const: parent.name };
  const field = describing.engine.schema.getField(parent, name.value);
  if (!field) return {};
  const schema = typeSchema(describing, field.type, below);
  return field.description ? { ...schema, description: field.description } : schema;
}

function typeSchema(
  describing: Describing,
  type: GraphQLOutputType,
  below: readonly SelectionSetNode[],
): JsonSchema {
  if (isNonNullType(type)) return nonNull(describing, type.ofType, below);
  return orNull(nonNull(describing, type, below));
}

function nonNull(
  describing: Describing,
  type: GraphQLOutputType,
  below: readonly SelectionSetNode[],
): JsonSchema {
  const { engine } = describing;
  if (isListType(type)) return { type: 'array', items: typeSchema(describing, type.ofType, below) };
  if (isLeafType(type)) return leafOf(engine, type);
  if (isObjectType(type)) return objectSchema(describing, type, below);
  if (!isAbstractType(type)) return {};
  const texts = engine.schema
    .getPossibleTypes(type)
    .map((each) => JSON.stringify(objectSchema(describing, each, below)));
  const schemas = [...new Set(texts)].map((text) => JSON.parse(text) as JsonSchema);
  return schemas.length === 1 ? schemas[0]! : { anyOf: schemas };
}
