import { isInputObjectType, isInterfaceType, isObjectType, type GraphQLSchema } from 'graphql';
import type { Change, UsedBy } from '../change.ts';
import type { Recorded } from '../documents/recorded.ts';
import { usageOf, type Usage } from '../documents/usage.ts';
import { validFor } from '../../documents/served-schema.ts';
import type { ServedSchema } from '../side.ts';
import { nowNamed, renameSchema, renameUsage } from './rename-schema.ts';
import type { Renames } from './renames.ts';
import { schemaChanges, type SchemaChange } from './schema-changes.ts';
import { createSunset, DEPRECATE_FIRST } from './sunset.ts';

export interface ApiComparison {
  readonly base: ServedSchema;
  readonly head: ServedSchema;
  readonly renames: Renames;
  readonly documents: readonly Recorded[];
  /** Whether the documents are all the callers, on both sides. */
  readonly mandatory: boolean;
  /** `YYYY-MM-DD`. */
  readonly today: string;
}

/** The changes of the served schema, each with the documents that it concerns. */
export function apiChanges(comparison: ApiComparison): Change[] {
  const { base, head, renames, documents } = comparison;
  const renamed = renames.size === 0 ? base.schema : renameSchema(base.sdl, renames);
  const uses = documents.flatMap((document) => {
    if (!document.document || !validFor(base.schema, document.document)) return [];
    return [{ document, usage: usageOf(document.document, base.schema) }];
  });
  const now = uses.map(({ document, usage }) => ({
    document,
    usage: renameUsage(usage, renames),
  }));
  const found = schemaChanges(renamed, head.schema);
  const sunset = createSunset({ base: renamed, gone: found, today: comparison.today });
  return [
    ...[...renames].map((rename) => renameChange(rename, comparison, uses)),
    ...found.map((change) => {
      const usedBy = usersOf(now, (usage) => concerns(change, usage, renamed));
      const level = sunset(change, usedBy.length > 0);
      const fix = level === 'breaking' ? fixOf(change) : undefined;
      return judged({ ...change, level, ...(fix && { fix }) }, usedBy, comparison);
    }),
  ];
}

interface Use {
  readonly document: Recorded;
  readonly usage: Usage;
}

function usersOf(uses: readonly Use[], test: (usage: Usage) => boolean): UsedBy[] {
  return uses.filter(({ usage }) => test(usage)).map(({ document }) => usedBy(document));
}

export const usedBy = ({ operation, hash, retired, at }: Recorded): UsedBy => ({
  operation,
  hash,
  retired,
  at,
});

/** One change for each name, where graphql sees one that is gone and one that is new. */
function renameChange(
  [from, to]: readonly [string, string],
  comparison: ApiComparison,
  uses: readonly Use[],
): Change {
  const isType = !/[.(]/.test(from);
  const code = `${isType ? 'TYPE' : from.endsWith(')') ? 'ARG' : 'FIELD'}_RENAMED`;
  const change = { code, coordinate: from, message: `${from} is ${to} now`, level: 'breaking' };
  const users = usersOf(uses, (usage) =>
    isType ? namesType(from, usage) : names(from, usage, comparison.base.schema),
  );
  const fix = 'keep the old name beside the new one, deprecated, until no caller uses it';
  return judged({ ...change, level: 'breaking', fix }, users, comparison);
}

/**
 * A document contains the name of a type in fragments and variables, and in the results of
 * `__typename`.
 */
const namesType = (type: string, { conditions, declared, named }: Usage) =>
  conditions.has(type) || declared.has(type) || named.has(`${type}.__typename`);

const names = (coordinate: string, usage: Usage, base: GraphQLSchema) =>
  concerns({ code: '', level: 'breaking', coordinate, message: '' }, usage, base) ||
  usage.variables.has(coordinate.replace(/\..*$/, ''));

type Found = SchemaChange & { readonly fix?: string };

function judged(
  { level, code, coordinate, message, fix }: Found,
  users: readonly UsedBy[],
  { base, head, mandatory, renames }: ApiComparison,
): Change {
  const unused = mandatory && users.length === 0 && level !== 'safe';
  const gone = /_(REMOVED|RENAMED)/.test(code);
  const at = gone ? base.places(oldName(coordinate, renames)) : head.places(coordinate);
  return {
    class: 'api',
    level: unused ? 'safe' : level,
    code,
    coordinate,
    message,
    ...(fix !== undefined && !unused && { fix }),
    ...(at && { at }),
    ...(users.length > 0 && { usedBy: users }),
    ...(unused && { unused }),
  };
}

/** The name at the base of a coordinate with present names. */
function oldName(coordinate: string, renames: Renames): string {
  for (const [from, to] of renames)
    if (to === coordinate || nowNamed(from, renames) === coordinate) return from;
  const [type = '', ...rest] = coordinate.split('.');
  const old = [...renames].find(([from, to]) => to === type && !from.includes('.'))?.[0];
  return [old ?? type, ...rest].join('.');
}

const FIXES: Readonly<Record<string, string>> = {
  FIELD_REMOVED: DEPRECATE_FIRST,
  ARG_REMOVED: DEPRECATE_FIRST,
  VALUE_REMOVED_FROM_ENUM: DEPRECATE_FIRST,
  REQUIRED_INPUT_FIELD_ADDED: 'make it nullable, or give it a default',
  REQUIRED_ARG_ADDED: 'make it nullable, or give it a default',
  FIELD_CHANGED_KIND: 'add a field with the new type beside it, and deprecate this one',
  ARG_CHANGED_KIND: 'add an argument with the new type beside it, and deprecate this one',
};

const fixOf = ({ code }: SchemaChange): string | undefined => FIXES[code];

/**
 * Whether a document that was valid at the base may notice a change. A change of a kind that is not
 * listed here counts where the document names its coordinate.
 */
function concerns(change: SchemaChange, usage: Usage, base: GraphQLSchema): boolean {
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
