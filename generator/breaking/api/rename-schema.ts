import {
  buildASTSchema,
  type DefinitionNode,
  type DocumentNode,
  type FieldDefinitionNode,
  type GraphQLSchema,
  type InputValueDefinitionNode,
  Kind,
  type NameNode,
  visit,
} from 'graphql';
import type { Usage } from '../documents/usage.ts';
import type { Renames } from './renames.ts';

/** The present name of a coordinate of the base. */
export function nowNamed(coordinate: string, renames: Renames): string {
  const whole = renames.get(coordinate);
  if (whole !== undefined) return whole;
  const [, type = '', field = '', argument = ''] =
    /^([^.(]+)(\.[^(]+)?(\(.*)?$/.exec(coordinate) ?? [];
  const owner = field === '' ? undefined : renames.get(`${type}${field}`);
  return `${owner ?? `${renames.get(type) ?? type}${field}`}${argument}`;
}

/** The schema of the base, in which every renamed part has its present name. */
export function renameSchema(document: DocumentNode, renames: Renames): GraphQLSchema {
  const definitions = document.definitions.map((node) => renameMembers(node, renames));
  const renamed = visit(
    { ...document, definitions },
    {
      [Kind.NAMED_TYPE]: (node) => ({ ...node, name: renameType(node.name, renames) }),
      enter: (node) =>
        node.kind.endsWith('TypeDefinition') && 'name' in node && node.name
          ? { ...node, name: renameType(node.name as NameNode, renames) }
          : undefined,
    },
  );
  return buildASTSchema(renamed, { assumeValidSDL: true });
}

const renameType = (name: NameNode, renames: Renames): NameNode => ({
  ...name,
  value: renames.get(name.value) ?? name.value,
});

function renameMembers(node: DefinitionNode, renames: Renames): DefinitionNode {
  if (!('name' in node) || !node.name) return node;
  const type = node.name.value;
  const lastOf = (coordinate: string) => /(\w+):?\)?$/.exec(nowNamed(coordinate, renames))![1]!;
  const rename = <T extends { readonly name: NameNode }>(member: T): T => {
    const coordinate = `${type}.${member.name.value}`;
    const args = (member as Partial<FieldDefinitionNode>).arguments;
    return {
      ...member,
      name: { ...member.name, value: lastOf(coordinate) },
      ...(args && {
        arguments: args.map((each: InputValueDefinitionNode) => ({
          ...each,
          name: { ...each.name, value: lastOf(`${coordinate}(${each.name.value}:)`) },
        })),
      }),
    };
  };
  if ('fields' in node && node.fields)
    return {
      ...node,
      fields: (node.fields as FieldDefinitionNode[]).map(rename),
    } as DefinitionNode;
  if ('values' in node && node.values)
    return { ...node, values: node.values.map(rename) } as DefinitionNode;
  return node;
}

/** What a document uses, with the present names of renamed parts. */
export function renameUsage(usage: Usage, renames: Renames): Usage {
  const now = (coordinates: ReadonlySet<string>) =>
    new Set([...coordinates].map((each) => nowNamed(each, renames)));
  return {
    named: now(usage.named),
    variables: now(usage.variables),
    declared: now(usage.declared),
    literals: now(usage.literals),
    answers: now(usage.answers),
    conditions: now(usage.conditions),
  };
}
