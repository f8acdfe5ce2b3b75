import {
  type DocumentNode,
  getNamedType,
  type GraphQLSchema,
  isEnumType,
  isInputObjectType,
  isNonNullType,
  Kind,
  TypeInfo,
  validate,
  visit,
  visitWithTypeInfo,
} from 'graphql';

/**
 * Whether a caller with this document meets something else than before: the server refuses it, an
 * answer has another type, or values of a variable are refused. It is worked out of the two schemas
 * and of the document alone, to judge what `breaking` says.
 */
export function isBroken(
  document: DocumentNode,
  before: GraphQLSchema,
  after: GraphQLSchema,
): boolean {
  if (validate(after, document).length > 0) return true;
  const [old, now] = [answers(document, before), answers(document, after)];
  return (
    old.some((type, at) => type !== now[at] && `${type}!` !== now[at]) ||
    variables(document).some((type) => refusesMore(type, before, after, new Set()))
  );
}

/** The type of each selected field, in the order of the text. */
function answers(document: DocumentNode, schema: GraphQLSchema): string[] {
  const types = new TypeInfo(schema);
  const found: string[] = [];
  visit(
    document,
    visitWithTypeInfo(types, { [Kind.FIELD]: () => void found.push(String(types.getType())) }),
  );
  return found;
}

function variables(document: DocumentNode): string[] {
  const found: string[] = [];
  visit(document, {
    [Kind.VARIABLE_DEFINITION](node) {
      visit(node.type, { [Kind.NAMED_TYPE]: (type) => void found.push(type.name.value) });
    },
  });
  return found;
}

function refusesMore(
  name: string,
  before: GraphQLSchema,
  after: GraphQLSchema,
  seen: Set<string>,
): boolean {
  if (seen.has(name)) return false;
  seen.add(name);
  const [old, now] = [before.getType(name), after.getType(name)];
  if (isEnumType(old) && isEnumType(now))
    return old.getValues().some((value) => !now.getValue(value.name));
  if (!isInputObjectType(old) || !isInputObjectType(now))
    return old?.constructor !== now?.constructor;
  const [had, has] = [old.getFields(), now.getFields()];
  return (
    Object.values(had).some(({ name: field, type }) => {
      const next = has[field]?.type;
      if (!next) return true;
      const same = String(type) === String(next) || String(type) === `${String(next)}!`;
      return !same || refusesMore(getNamedType(type).name, before, after, seen);
    }) || Object.values(has).some((field) => !had[field.name] && isNonNullType(field.type))
  );
}
