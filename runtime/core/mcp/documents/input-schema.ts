import { type Constraint, type JsonSchema, leafSchema } from '@twofold/schema';
import {
  type GraphQLInputObjectType,
  type GraphQLInputType,
  isEnumType,
  isInputObjectType,
  isListType,
  isNonNullType,
  Kind,
  typeFromAST,
  type VariableDefinitionNode,
  valueFromASTUntyped,
  type GraphQLEnumType,
  type GraphQLScalarType,
  type FieldNode,
  type SelectionSetNode,
} from 'graphql';
import type { PreparedOperation } from '../../graphql/document-cache.ts';
import type { Engine } from '../../graphql/engine.ts';

/** Input objects and enums that a schema refers to, by name. An input may refer to itself. */
type Definitions = Map<string, JsonSchema>;

/** The variables of an operation as JSON Schema 2020-12; nothing else may be given. */
export function inputSchemaOf(engine: Engine, operation: PreparedOperation): JsonSchema {
  const { variableDefinitions = [] } = operation.node;
  const definitions: Definitions = new Map();
  const limits = argumentsWithVariables(engine, operation);
  const properties = variableDefinitions.map(
    (node) =>
      [
        node.variable.name.value,
        variableSchema(engine, node, {
          definitions,
          ...limits.get(node.variable.name.value),
        }),
      ] as const,
  );
  const required = variableDefinitions
    .filter(({ type, defaultValue }) => type.kind === Kind.NON_NULL_TYPE && !defaultValue)
    .map(({ variable }) => variable.name.value);
  return {
    type: 'object',
    properties: Object.fromEntries(properties),
    ...(required.length > 0 && { required }),
    additionalProperties: false,
    ...(definitions.size > 0 && { $defs: Object.fromEntries(definitions) }),
  };
}

/** The argument of a root field that a variable is the value of. */
interface ArgumentOfVariable {
  readonly constraint?: Constraint;
  readonly description?: string;
}

function argumentsWithVariables(
  { schema, model }: Engine,
  operation: PreparedOperation,
): ReadonlyMap<string, ArgumentOfVariable> {
  const kind = operation.node.operation;
  const found = new Map<string, ArgumentOfVariable>();
  for (const field of rootFieldsOf(operation)) {
    const declared = model.project.operations.find(
      ({ root, name }) => root === kind && name === field.name.value,
    );
    const shown = schema.getRootType(kind)?.getFields()[field.name.value]?.args ?? [];
    for (const { name, value } of field.arguments ?? []) {
      if (value.kind !== Kind.VARIABLE || found.has(value.name.value)) continue;
      const constraint = declared?.args.find((each) => each.name === name.value)?.constraint;
      const description = shown.find((each) => each.name === name.value)?.description;
      found.set(value.name.value, {
        ...(constraint && { constraint }),
        ...(description && { description }),
      });
    }
  }
  return found;
}

function variableSchema(
  engine: Engine,
  { type, defaultValue, description }: VariableDefinitionNode,
  argument: ArgumentOfVariable & { readonly definitions: Definitions },
): JsonSchema {
  const of = typeFromAST(engine.schema, type) as GraphQLInputType;
  const schema = valueSchema(engine, of, argument.definitions);
  const said = description?.value ?? argument.description;
  return {
    ...constrained(schema, argument.constraint),
    ...(said && { description: said }),
    ...(defaultValue && { default: valueFromASTUntyped(defaultValue) }),
  };
}

function valueSchema(engine: Engine, type: GraphQLInputType, definitions: Definitions): JsonSchema {
  if (!isNonNullType(type)) return orNull(nonNull(engine, type, definitions));
  return nonNull(engine, type.ofType, definitions);
}

function nonNull(engine: Engine, type: GraphQLInputType, definitions: Definitions): JsonSchema {
  if (isListType(type))
    return { type: 'array', items: valueSchema(engine, type.ofType, definitions) };
  if (isNonNullType(type)) return nonNull(engine, type.ofType, definitions);
  if (isInputObjectType(type)) return referenced(engine, type, definitions);
  if (!isEnumType(type) && type.name === 'ID') return { type: ['string', 'integer'] };
  const leaf = leafOf(engine, type);
  return isEnumType(type) && type.description ? { ...leaf, description: type.description } : leaf;
}

function referenced(
  engine: Engine,
  type: GraphQLInputObjectType,
  definitions: Definitions,
): JsonSchema {
  const reference = { $ref: `#/$defs/${type.name}` };
  if (definitions.has(type.name)) return reference;
  // An entry is added before its fields are read, because they may refer to it.
  definitions.set(type.name, {});
  definitions.set(type.name, objectSchema(engine, type, definitions));
  return reference;
}

function objectSchema(
  engine: Engine,
  type: GraphQLInputObjectType,
  definitions: Definitions,
): JsonSchema {
  const { constraints = {} } = engine.model.project;
  // The one member of `@oneOf` that is given must not be null, although its type says so.
  const ofMember = type.isOneOf ? nonNull : valueSchema;
  const fields = Object.values(type.getFields());
  const properties = fields.map(({ name, type: value, description }) => {
    const schema = ofMember(engine, value, definitions);
    const limited = constrained(schema, constraints[`${type.name}.${name}`]);
    return [name, description ? { ...limited, description } : limited] as const;
  });
  const required = fields.filter(
    (field) =>
      isNonNullType(field.type) && field.defaultValue === undefined && field.default === undefined,
  );
  return {
    type: 'object',
    ...(type.description && { description: type.description }),
    properties: Object.fromEntries(properties),
    ...(required.length > 0 && { required: required.map(({ name }) => name) }),
    ...(type.isOneOf && { minProperties: 1, maxProperties: 1 }),
    additionalProperties: false,
  };
}

/**
 * Adds the rules of `@constraint` to a schema. The number of items belongs to the list, the rest to
 * its items.
 */
function constrained(schema: JsonSchema, constraint: Constraint | undefined): JsonSchema {
  if (!constraint) return schema;
  const { min, max, minItems, maxItems, ...words } = constraint;
  const value = {
    ...(min !== undefined && { minimum: min }),
    ...(max !== undefined && { maximum: max }),
    ...words,
  };
  if (!('items' in schema)) return { ...schema, ...value };
  return {
    ...schema,
    items: { ...(schema['items'] as JsonSchema), ...value },
    ...(minItems !== undefined && { minItems }),
    ...(maxItems !== undefined && { maxItems }),
  };
}

/** A scalar or an enum in JSON. A scalar of the project may be anything. */
export function leafOf({ model }: Engine, type: GraphQLScalarType | GraphQLEnumType): JsonSchema {
  if (!isEnumType(type)) return leafSchema(model.project, type.name);
  return { type: 'string', enum: type.getValues().map(({ name }) => name) };
}

/** The same schema, with null allowed. */
export function orNull(schema: JsonSchema): JsonSchema {
  const { type } = schema;
  if (Array.isArray(schema['enum']))
    return { ...schema, type: ['string', 'null'], enum: [...schema['enum'], null] };
  if (typeof type === 'string') return { ...schema, type: [type, 'null'] };
  if (Array.isArray(type)) return { ...schema, type: [...type, 'null'] };
  return Object.keys(schema).length === 0 ? schema : { anyOf: [schema, { type: 'null' }] };
}

/** The root fields of an operation, also those in fragments. */
export function rootFieldsOf(operation: PreparedOperation): readonly FieldNode[] {
  return [...fieldsIn(operation.node.selectionSet, operation)];
}

function* fieldsIn(
  { selections }: SelectionSetNode,
  operation: PreparedOperation,
): Generator<FieldNode> {
  for (const selection of selections) {
    if (selection.kind === Kind.FIELD) yield selection;
    else if (selection.kind === Kind.INLINE_FRAGMENT)
      yield* fieldsIn(selection.selectionSet, operation);
    else {
      const fragment = operation.fragments.get(selection.name.value);
      if (fragment) yield* fieldsIn(fragment.selectionSet, operation);
    }
  }
}
