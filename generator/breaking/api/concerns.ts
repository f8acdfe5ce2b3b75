import { type GraphQLSchema, isInputObjectType, isInterfaceType, isObjectType } from 'graphql';
import type { Usage } from '../documents/usage.ts';
import type { SchemaChange } from './schema-changes.ts';

/**
 * Whether a document that was valid at the base may notice a change. A change of a kind that is not
 * listed here counts where the document names its coordinate.
 */
export function concerns(change: SchemaChange, usage: Usage, base: GraphQLSchema): boolean {
  const test = TESTS[change.code];
  if (test) return test(change, usage, base);
  return isInputObjectType(base.getType(ownerOf(change.coordinate)))
    ? takesMember(change, usage, base)
    : usage.named.has(change.coordinate);
}

type Test = (change: SchemaChange, usage: Usage, base: GraphQLSchema) => boolean;

/** `Query.posts(limit:)` → `Query.posts`, `Post.body` → `Post`. */
const fieldOf = (coordinate: string) => coordinate.replace(/\(.*$/, '');
const ownerOf = (coordinate: string) => coordinate.replace(/\..*$/, '');

/** Whether the document names the field of an input, or sends the input as a variable. */
const takesMember: Test = ({ coordinate }, { named, variables }) =>
  named.has(coordinate) || variables.has(ownerOf(coordinate));

/**
 * Whether the document sends the input, even without this field: a new field would then be missing,
 * and a changed default would take effect.
 */
const givesInput: Test = ({ coordinate }, { literals, variables }) =>
  literals.has(ownerOf(coordinate)) || variables.has(ownerOf(coordinate));

/** Whether the document uses the type in any way. */
const meets = (type: string, { named, variables, literals, answers, conditions }: Usage) =>
  [variables, literals, answers, conditions].some((types) => types.has(type)) ||
  [...named].some((coordinate) => coordinate.startsWith(`${type}.`));

const meetsType: Test = ({ coordinate }, usage) => meets(coordinate, usage);

/** An object answers in place of an interface, and uses its own arguments. */
const selectsField: Test = ({ coordinate }, { named }, base) => {
  const [owner = '', field] = fieldOf(coordinate).split('.');
  const type = base.getType(owner);
  const above = isObjectType(type) || isInterfaceType(type) ? type.getInterfaces() : [];
  return [owner, ...above.map(({ name }) => name)].some((each) => named.has(`${each}.${field}`));
};

const TESTS: Readonly<Record<string, Test>> = {
  TYPE_REMOVED: meetsType,
  TYPE_CHANGED_KIND: meetsType,
  REQUIRED_INPUT_FIELD_ADDED: givesInput,
  OPTIONAL_INPUT_FIELD_ADDED: givesInput,
  INPUT_FIELD_DEFAULT_VALUE_CHANGE: givesInput,
  REQUIRED_ARG_ADDED: selectsField,
  OPTIONAL_ARG_ADDED: selectsField,
  ARG_DEFAULT_VALUE_CHANGE: (change, usage, base) =>
    change.coordinate.startsWith('@')
      ? usage.named.has(fieldOf(change.coordinate))
      : selectsField(change, usage, base),
  REQUIRED_DIRECTIVE_ARG_ADDED: ({ coordinate }, { named }) => named.has(fieldOf(coordinate)),
  VALUE_REMOVED_FROM_ENUM: takesMember,
  // A caller that only sends an enum never meets a value that it does not know.
  VALUE_ADDED_TO_ENUM: ({ coordinate }, { answers }) => answers.has(ownerOf(coordinate)),
  TYPE_ADDED_TO_UNION: ({ coordinate }, { answers }) => answers.has(coordinate),
  TYPE_REMOVED_FROM_UNION: ({ coordinate, other = '' }, usage, base) =>
    (usage.answers.has(coordinate) || usage.conditions.has(coordinate)) &&
    (usage.conditions.has(other) || hasInterfaceOf(other, usage, base)),
  IMPLEMENTED_INTERFACE_ADDED: ({ other = '' }, { answers, conditions }) =>
    answers.has(other) || conditions.has(other),
  IMPLEMENTED_INTERFACE_REMOVED: ({ coordinate, other = '' }, usage) =>
    meets(coordinate, usage) && (usage.answers.has(other) || usage.conditions.has(other)),
};

/** Whether the document has a fragment on an interface of the type. */
function hasInterfaceOf(type: string, { conditions }: Usage, base: GraphQLSchema): boolean {
  const object = base.getType(type);
  return isObjectType(object) && object.getInterfaces().some(({ name }) => conditions.has(name));
}
