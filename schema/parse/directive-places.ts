import { Kind, type ASTNode, type ConstDirectiveNode, type DefinitionNode } from 'graphql';
import { remembered } from '../remembered.ts';

/** A use of a directive: the node that carries it, and its location. */
export interface DirectiveUse {
  readonly directive: ConstDirectiveNode;
  /** A location as in directive definitions: `OBJECT`, `FIELD_DEFINITION` … */
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
 * The uses in one definition: on itself, its fields, their arguments and its values. Input fields
 * and arguments are the same kind of node, so the location depends on the parent.
 *
 * @example
 * usesWithin(definition)[0]?.location // 'OBJECT'
 */
export const usesWithin = remembered((definition: DefinitionNode): readonly DirectiveUse[] => {
  const uses: DirectiveUse[] = [];
  collect(definition, 'ARGUMENT_DEFINITION', uses);
  return uses;
});

/** A node that carries directives, or contains nodes that do. */
interface Holder {
  readonly kind: string;
  readonly directives?: readonly ConstDirectiveNode[] | undefined;
  readonly fields?: readonly ASTNode[] | undefined;
  readonly arguments?: readonly ASTNode[] | undefined;
  readonly values?: readonly ASTNode[] | undefined;
}

/** Returns early for nodes without directives, which most nodes of a schema are. */
function collect(node: ASTNode, inputs: string, uses: DirectiveUse[]): void {
  const { kind, directives, fields, arguments: args, values } = node as Holder;
  const location = LOCATIONS[kind] ?? inputs;
  if (directives)
    for (const directive of directives) uses.push({ directive, location, holder: node });
  const inner = location === 'INPUT_OBJECT' ? 'INPUT_FIELD_DEFINITION' : 'ARGUMENT_DEFINITION';
  if (fields) for (const field of fields) collect(field, inner, uses);
  if (args) for (const argument of args) collect(argument, inner, uses);
  if (values) for (const value of values) collect(value, inner, uses);
}
