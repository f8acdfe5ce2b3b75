import { getNamedType, isInputObjectType, type GraphQLInputType } from 'graphql';
import type { Built } from '../build/built.ts';
import type { ErrorUse } from '../directives/of-types.ts';
import { answersWith } from '../build/result-types.ts';
import type { OperationFact } from '../build/operations.ts';
import { didYouMean } from '../did-you-mean.ts';
import type { Finding } from '../parse/places.ts';
import { finding, listed, removed, type Rule } from './finding.ts';

/**
 * ERROR_UNREACHABLE, DIRECTIVE_WITHOUT_EFFECT: a type with `@error` that no failure of a mutation
 * leads to.
 */
export const errorMembers: Rule = function* (built) {
  for (const { type, directives } of built.facts.types.values()) {
    if (directives.errors.length === 0) continue;
    const mutations = built.operations.filter(
      ({ operation, field }) =>
        operation.root === 'mutation' && answersWith(built.facts, field, type),
    );
    for (const use of directives.errors)
      if (mutations.length === 0) yield unused(type.name, use);
      else if (mutations.every((mutation) => !canFail(built, mutation, use)))
        yield unreachable(built, mutations, type.name, use);
  }
};

const unused = (type: string, { node }: ErrorUse): Finding =>
  finding('DIRECTIVE_WITHOUT_EFFECT', node, {
    summary: `@error has no effect on ${type}`,
    why: 'no mutation answers with a union or interface that it belongs to',
    fix: 'make it a member of the result of a mutation',
    changes: removed(node),
  });

function unreachable(
  built: Built,
  mutations: readonly OperationFact[],
  type: string,
  { code, field, node }: ErrorUse,
): Finding {
  const names = listed(mutations.map(({ operation }) => operation.name));
  const codes = mutations.flatMap((mutation) => codesOf(built, mutation) ?? []);
  const fields = mutations.flatMap((mutation) => [...fieldsOf(built, mutation)]);
  const about = field === undefined ? '' : ` about ${field}`;
  return finding('ERROR_UNREACHABLE', node, {
    summary: `${type} never answers: ${names} cannot fail with ${code}${about}`,
    why: 'the server writes the mutation, and no hook of yours adds codes of its own',
    fix: codes.includes(code)
      ? (didYouMean(field ?? '', fields) ??
        'name an argument, or a field of an input or of the entity')
      : (didYouMean(code, codes) ?? `one of ${listed([...new Set(codes)].toSorted(), 'or')}`),
    severity: 'warning',
  });
}

function canFail(built: Built, mutation: OperationFact, { code, field }: ErrorUse): boolean {
  const codes = codesOf(built, mutation);
  if (!codes) return true;
  return codes.includes(code) && (field === undefined || fieldsOf(built, mutation).has(field));
}

/** Any mutation that the server writes may fail with these. */
const ALWAYS =
  'BAD_USER_INPUT FORBIDDEN INTERNAL_SERVER_ERROR TIMEOUT UNAUTHENTICATED UNAVAILABLE'.split(' ');

const KEY_TAKEN = ['CONFLICT'];
const NOT_THERE = ['CONFLICT', 'NOT_FOUND'];

const CODES: Readonly<Record<string, readonly string[]>> = {
  create: KEY_TAKEN,
  createMany: KEY_TAKEN,
  updateMany: KEY_TAKEN,
  removeMany: KEY_TAKEN,
  update: NOT_THERE,
  upsert: NOT_THERE,
  remove: NOT_THERE,
};

/** The codes that a mutation may fail with; undefined where the project's own code may add some. */
function codesOf({ facts }: Built, { operation }: OperationFact): readonly string[] | undefined {
  const { kind } = operation.action;
  const codes = CODES[kind];
  return codes && Object.keys(facts.hooks).length === 0 ? [...ALWAYS, ...codes] : undefined;
}

/** The field names that an error of the mutation may contain. */
function fieldsOf({ facts }: Built, { operation, field }: OperationFact): ReadonlySet<string> {
  const names = new Set<string>();
  const seen = new Set<GraphQLInputType>();
  const add = (name: string, type: GraphQLInputType) => {
    const input = getNamedType(type);
    names.add(name);
    if (!isInputObjectType(input) || seen.has(input)) return;
    seen.add(input);
    for (const each of Object.values(input.getFields())) add(each.name, each.type);
  };
  for (const { name, type } of field.field.args) add(name, type);
  const entity = 'entity' in operation.action ? facts.entities.get(operation.action.entity) : null;
  for (const name of entity?.fields.keys() ?? []) names.add(name);
  return names;
}
