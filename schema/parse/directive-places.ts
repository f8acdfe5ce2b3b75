import { Kind } from 'graphql';
import type { ASTNode, ConstDirectiveNode, DocumentNode } from 'graphql';

/** A use of a directive: on what, and what kind of place that is. */
export interface DirectiveUse {
  readonly directive: ConstDirectiveNode;
  /** As directives are declared: `OBJECT`, `FIELD_DEFINITION` … */
  readonly location: string;
  readonly holder: ASTNode;
}

const LOCATIONS: Readonly<Record<string, string>> = {
  [Kind.SCHEMA_DEFINITION]: 'SCHEMA',
  [Kind.SCHEMA_EXTENSION]: 'SCHEMA',
  [Kind.SCALAR_TYPE_DEFINITION]: 'SCALAR',
  [Kind.SCALAR_TYPE_EXTENSION]: 'SCALAR',
  [Kind.OBJECT_TYPE_DEFINITION]: 'OBJECT',
  [Kind.OBJECT_TYPE_EXTENSION]: 'OBJECT',
  [Kind.INTERFACE_TYPE_DEFINITION]: 'INTERFACE',
  [Kind.INTERFACE_TYPE_EXTENSION]: 'INTERFACE',
  [Kind.UNION_TYPE_DEFINITION]: 'UNION',
  [Kind.UNION_TYPE_EXTENSION]: 'UNION',
  [Kind.ENUM_TYPE_DEFINITION]: 'ENUM',
  [Kind.ENUM_TYPE_EXTENSION]: 'ENUM',
  [Kind.INPUT_OBJECT_TYPE_DEFINITION]: 'INPUT_OBJECT',
  [Kind.INPUT_OBJECT_TYPE_EXTENSION]: 'INPUT_OBJECT',
  [Kind.FIELD_DEFINITION]: 'FIELD_DEFINITION',
  [Kind.ENUM_VALUE_DEFINITION]: 'ENUM_VALUE',
};

/**
 * Every use of a directive in the schema, in the order in which they are written.
 *
 * @example
 * [...directiveUses(document)][0]?.location // 'OBJECT'
 */
export function* directiveUses(document: DocumentNode): Generator<DirectiveUse> {
  for (const definition of document.definitions) yield* usesWithin(definition);
}

/**
 * The uses in one definition: on itself, its fields, their arguments, its values. Fields of inputs and arguments are the
 * same kind of node; only what they stand in tells them apart.
 */
export function* usesWithin(node: ASTNode, inputs = 'ARGUMENT_DEFINITION'): Generator<DirectiveUse> {
  const location = LOCATIONS[node.kind] ?? inputs;
  if ('directives' in node) for (const directive of node.directives ?? []) yield { directive: directive as ConstDirectiveNode, location, holder: node };
  const inner = location === 'INPUT_OBJECT' ? 'INPUT_FIELD_DEFINITION' : 'ARGUMENT_DEFINITION';
  if ('fields' in node) for (const field of node.fields ?? []) yield* usesWithin(field, inner);
  if ('arguments' in node) for (const argument of node.arguments ?? []) yield* usesWithin(argument, inner);
  if ('values' in node) for (const value of node.values ?? []) yield* usesWithin(value, inner);
}
