import {
  isEnumType,
  isInputObjectType,
  isInterfaceType,
  isObjectType,
  type ASTNode,
  type ConstDirectiveNode,
  type GraphQLNamedType,
} from 'graphql';
import type { Finding } from '../parse/places.ts';
import { lastDateOf, sunsetOf } from '../sunset.ts';
import { finding, type Rule } from './finding.ts';

/** SUNSET_INVALID: the date in the reason of `@deprecated` is not a day of the calendar. */
export const sunsets: Rule = function* ({ facts }) {
  // Most schemas deprecate nothing, and then the rule need not look at every field and argument.
  if (!facts.parsed.uses.some(({ directive }) => directive.name.value === 'deprecated')) return;
  for (const type of Object.values(facts.schema.getTypeMap()))
    for (const { name, deprecationReason, astNode } of deprecatable(type))
      if (deprecationReason) yield* invalid(name, deprecationReason, astNode);
};

type Node = ASTNode & { readonly directives?: readonly ConstDirectiveNode[] | undefined };

interface Deprecatable {
  readonly name: string;
  readonly deprecationReason: string | null | undefined;
  readonly astNode: Node | null | undefined;
}

function deprecatable(type: GraphQLNamedType): Deprecatable[] {
  if (isEnumType(type)) return type.getValues().map((value) => named(`${type.name}.`, value));
  if (isInputObjectType(type))
    return Object.values(type.getFields()).map((field) => named(`${type.name}.`, field));
  if (!isObjectType(type) && !isInterfaceType(type)) return [];
  return Object.values(type.getFields()).flatMap((field) => [
    named(`${type.name}.`, field),
    ...field.args.map((argument) => named(`${type.name}.${field.name}.`, argument)),
  ]);
}

const named = (prefix: string, { name, deprecationReason, astNode }: Deprecatable) => ({
  name: `${prefix}${name}`,
  deprecationReason,
  astNode,
});

function* invalid(name: string, reason: string, node: Deprecatable['astNode']): Iterable<Finding> {
  const date = lastDateOf(reason);
  if (date === null || sunsetOf(reason) !== null) return;
  yield finding(
    'SUNSET_INVALID',
    node?.directives?.find((directive) => directive.name.value === 'deprecated'),
    {
      summary: `${name} is deprecated until ${date}, which is not a day of the calendar`,
      why: 'the last date in the reason is the day of the removal, which "generator breaking" and OpenAPI read',
      fix: 'write the day as YYYY-MM-DD: "Removal on 2027-03-01."',
      severity: 'warning',
    },
  );
}
