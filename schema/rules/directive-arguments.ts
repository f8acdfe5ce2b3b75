import {
  getNamedType,
  isEnumType,
  isNonNullType,
  Kind,
  print,
  validateInputLiteral,
  type ConstArgumentNode,
  type ConstDirectiveNode,
  type ConstValueNode,
  type GraphQLArgument,
  type GraphQLDirective,
  type GraphQLInputType,
} from 'graphql';
import { nearest } from '../did-you-mean.ts';
import { ourDirectives } from '../our-directives.ts';
import { finding, type Advice, type Rule } from './finding.ts';

/**
 * DIRECTIVE_ARGUMENT: the arguments of a directive must exist, be complete, and have values of
 * their types.
 */
export const directiveArguments: Rule = function* ({ facts }) {
  const own = facts.schema.getDirectives().map((directive) => [directive.name, directive] as const);
  const known = new Map([...own, ...ourDirectives()]);
  for (const { directive } of facts.parsed.uses) {
    const definition = known.get(directive.name.value);
    if (definition) yield* check(directive, definition);
  }
};

function* check(directive: ConstDirectiveNode, definition: GraphQLDirective) {
  const given = new Map(
    (directive.arguments ?? []).map((argument) => [argument.name.value, argument]),
  );
  for (const [name, argument] of given) {
    const wanted = definition.args.find((candidate) => candidate.name === name);
    if (!wanted) yield unknown(directive, argument, definition);
    else yield* checkValue(directive, argument, wanted);
  }
  for (const wanted of definition.args) {
    if (given.has(wanted.name) || !isNonNullType(wanted.type) || wanted.default !== undefined)
      continue;
    yield finding('DIRECTIVE_ARGUMENT', directive, {
      summary: `@${directive.name.value} needs ${wanted.name}`,
      fix: `@${directive.name.value}(${wanted.name}: …), of the type ${String(wanted.type)}`,
    });
  }
}

function unknown(
  directive: ConstDirectiveNode,
  argument: ConstArgumentNode,
  definition: GraphQLDirective,
) {
  const names = definition.args.map(({ name }) => name);
  const near = nearest(argument.name.value, names);
  const known = names.length > 0 ? `known: ${names.join(', ')}` : 'it has none';
  const advice: Advice =
    near === undefined
      ? { fix: known }
      : {
          fix: `Did you mean "${near}"?`,
          changes: [{ kind: 'replace', node: argument.name, text: near }],
        };
  return finding('DIRECTIVE_ARGUMENT', argument.name, {
    summary: `@${directive.name.value} has no argument ${argument.name.value}`,
    ...advice,
  });
}

/** An example value for each type of a directive's argument. */
const EXAMPLES: Readonly<Record<string, string>> = {
  String: '"text"',
  Int: '3',
  Float: '0.5',
  Boolean: 'true',
  TwofoldValue: '"text"',
};

function* checkValue(
  directive: ConstDirectiveNode,
  argument: ConstArgumentNode,
  wanted: GraphQLArgument,
) {
  const what = `@${directive.name.value}(${argument.name.value}:)`;
  for (const value of wrongValues(argument.value, wanted.type)) {
    const type = getNamedType(wanted.type);
    const words = isEnumType(type) ? type.getValues().map(({ name }) => name) : [];
    const near = nearest(wordOf(value), words);
    const fix =
      (near && `Did you mean "${near}"?`) ??
      (words.length > 0
        ? `one of ${words.join(', ')}`
        : `${argument.name.value}: ${EXAMPLES[type.name] ?? '…'}`);
    yield finding('DIRECTIVE_ARGUMENT', value, {
      summary: `${what} cannot be ${print(value)}`,
      why: `its type is ${String(wanted.type)}`,
      fix,
      changes: near ? [{ kind: 'replace', node: value, text: near }] : undefined,
    });
  }
}

/**
 * The values of the wrong type; items of a list one by one, so that only the wrong one is marked.
 */
function* wrongValues(value: ConstValueNode, type: GraphQLInputType): Generator<ConstValueNode> {
  if (fits(value, type)) return;
  const named = getNamedType(type);
  const items = value.kind === Kind.LIST ? value.values.filter((item) => !fits(item, named)) : [];
  yield* items.length > 0 ? items : [value];
}

function fits(value: ConstValueNode, type: GraphQLInputType): boolean {
  let fitting = true;
  validateInputLiteral(value, type, () => (fitting = false));
  return fitting;
}

function wordOf(value: ConstValueNode): string {
  return 'value' in value ? String(value.value) : '';
}
