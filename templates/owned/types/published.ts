import { Kind, type NamedTypeNode, type TypeNode } from 'graphql';
import { propertyName } from '../../literal.ts';
import type { Definitions, Member } from './definitions.ts';
import type { SchemaParts } from './schema-table.ts';

/**
 * Declares the type of the payloads of `ctx.publish`, by field of Subscription. Returns an empty
 * text for a schema without subscriptions.
 *
 * @example printPublished(definitions, { roots, rows }) // 'export interface Published {…'
 */
export function printPublished(
  definitions: Definitions,
  { roots, rows }: Pick<SchemaParts, 'roots' | 'rows'>,
): string {
  const owner = definitions.names(roots.subscription);
  const fields = definitions.types.find(({ name }) => name === owner)?.fields ?? [];
  if (fields.length === 0) return '';
  const enums = new Set(
    definitions.types.flatMap(({ kind, name }) => (kind === 'enum' ? [name] : [])),
  );
  const leaf = (type: string) => {
    const name = definitions.names(type);
    const row = rows.get(name);
    if (row !== undefined) return `${row} | Pick<${row}, 'id'>`;
    return enums.has(name) ? name : `ResolversParentTypes['${name}']`;
  };
  const lines = fields.map(
    (field) =>
      `  ${propertyName(field.name)}: { payload: ${printType(field.type, leaf)}; args: ${argumentsOf(owner, field)} };`,
  );
  return `/** What \`ctx.publish\` takes, by field. */\nexport interface Published {\n${lines.join('\n')}\n}`;
}

const argumentsOf = (owner: string, { name, args }: Member) =>
  args.length > 0 ? `Partial<${owner}${name}Args>` : 'Record<PropertyKey, never>';

type Leaf = (type: string) => string;

function printType(type: TypeNode, leaf: Leaf): string {
  return type.kind === Kind.NON_NULL_TYPE
    ? printBare(type.type, leaf)
    : `${printBare(type, leaf)} | null`;
}

const printBare = (type: TypeNode, leaf: Leaf): string =>
  type.kind === Kind.LIST_TYPE
    ? `Array<${printType(type.type, leaf)}>`
    : leaf((type as NamedTypeNode).name.value);
