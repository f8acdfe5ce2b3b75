import { snakeCase, type SourceText } from '@twofold/schema';
import {
  type ConstDirectiveNode,
  type DefinitionNode,
  type EnumValueDefinitionNode,
  type FieldDefinitionNode,
  parse,
  print,
  type TypeNode,
} from 'graphql';

/** A field of a type, or a value of an enum. */
export type MemberNode = FieldDefinitionNode | EnumValueDefinitionNode;

/** A definition and its file. */
export interface Placed<Node> {
  readonly node: Node;
  readonly file: string;
}

/** What one identity has in a schema: its definition, its extensions, and all their members. */
export interface Definition {
  readonly name: string;
  readonly parts: readonly Placed<DefinitionNode>[];
  readonly members: ReadonlyMap<string, Placed<MemberNode>>;
}

/**
 * The definitions of a schema, by the table of a type and the column of a field, so that renamed
 * and moved ones are found again.
 *
 * @example readDefinitions([{ file: 'schema.graphql', text }]).get('table film')
 */
export function readDefinitions(texts: readonly SourceText[]): ReadonlyMap<string, Definition> {
  const placed = texts.flatMap(({ file, text }) =>
    text.trim() === '' ? [] : parse(text).definitions.map((node) => ({ node, file })),
  );
  const tables = new Map(
    placed.flatMap(({ node }) =>
      node.kind === 'ObjectTypeDefinition' ? [[node.name.value, identityOf(node)] as const] : [],
    ),
  );
  const groups = Map.groupBy(placed, ({ node }) => identityOf(node, tables));
  return new Map([...groups].map(([identity, parts]) => [identity, define(parts, tables)]));
}

function define(
  parts: readonly Placed<DefinitionNode>[],
  tables: ReadonlyMap<string, string>,
): Definition {
  const first = parts.find(({ node }) => !node.kind.endsWith('Extension')) ?? parts[0]!;
  return {
    name: nameOf(first.node),
    parts,
    members: new Map(
      parts.flatMap(({ node, file }) =>
        membersOf(node).map(
          (member) => [memberIdentity(member, node, tables), { node: member, file }] as const,
        ),
      ),
    ),
  };
}

const nameOf = (node: DefinitionNode) => ('name' in node && node.name ? node.name.value : '');

/** The key of a definition: its table, or its name when it has none. */
function identityOf(node: DefinitionNode, tables?: ReadonlyMap<string, string>): string {
  const name = nameOf(node);
  if (node.kind === 'ObjectTypeExtension') return tables?.get(name) ?? `type ${name}`;
  if (node.kind === 'ObjectTypeDefinition') {
    const { name: table, schema = '' } = argumentsOf(node.directives, 'table');
    return table === undefined ? `type ${name}` : `table ${schema} ${table}`;
  }
  if (node.kind !== 'EnumTypeDefinition') return `${node.kind} ${name}`;
  return `enum ${argumentsOf(node.directives, 'column')['type'] ?? name}`;
}

export function membersOf(node: DefinitionNode): readonly MemberNode[] {
  if ('fields' in node)
    return (node.fields ?? []).filter((field) => field.kind === 'FieldDefinition');
  return 'values' in node ? (node.values ?? []) : [];
}

function memberIdentity(
  member: MemberNode,
  owner: DefinitionNode,
  tables: ReadonlyMap<string, string>,
): string {
  const directives = member.directives ?? [];
  const column = argumentsOf(directives, 'column')['name'];
  if (member.kind === 'EnumValueDefinition') return `value ${column ?? member.name.value}`;
  if (nameOf(owner) === 'Query') return `query ${member.name.value}`;
  const {
    table = '',
    column: key,
    columns = key,
    inverse = '',
  } = argumentsOf(directives, 'relation');
  if (columns !== undefined || table !== '') return `relation ${table} ${columns}`;
  const target = tables.get(namedType(member.type));
  return target === undefined
    ? `column ${column ?? snakeCase(member.name.value)}`
    : `inverse ${target} ${inverse}`;
}

export function namedType(type: TypeNode): string {
  return type.kind === 'NamedType' ? type.name.value : namedType(type.type);
}

/** The arguments of a directive as texts. A list becomes one text with commas. */
function argumentsOf(
  directives: readonly ConstDirectiveNode[] | undefined,
  name: string,
): Readonly<Record<string, string | undefined>> {
  const node = directives?.find((each) => each.name.value === name);
  return Object.fromEntries(
    (node?.arguments ?? []).map(({ name: key, value }) => [
      key.value,
      print(value).replace(/^"|"$/g, ''),
    ]),
  );
}
