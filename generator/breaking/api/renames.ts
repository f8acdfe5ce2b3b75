import { camelCase, pascalCase, pluralize, type SourceText } from '@twofold/schema';
import {
  type ASTNode,
  type GraphQLNamedType,
  type GraphQLSchema,
  isEnumType,
  isInputObjectType,
  isInterfaceType,
  isObjectType,
  Kind,
  parse,
} from 'graphql';

/**
 * Coordinates of the base and their names now: `User` → `Account`, `User.name` →
 * `Account.fullName`.
 */
export type Renames = ReadonlyMap<string, string>;

/** One `@renamed` of the schema. `type` is the present name of the type that holds the member. */
interface Said {
  readonly type: string;
  readonly from: string;
  readonly to: string;
}

/**
 * The renames that `@renamed` records in the schema, and those of names that are made of a type's
 * name: `UserFilter`, `createUser`, the field of an input.
 */
export function renamesOf(
  texts: readonly SourceText[],
  before: GraphQLSchema,
  after: GraphQLSchema,
): Renames {
  const said = texts.flatMap(({ text }) => saidIn(text));
  if (said.length === 0) return new Map();
  const words = said.filter(({ type, to }) => type === to).map(({ from, to }) => wordsOf(from, to));
  const members = said.filter(({ type, to }) => type !== to);
  const inOther = (word: string) => words.map((swap) => swap(word)).find((name) => name !== word);
  const types = new Map<string, string>();
  for (const name of Object.keys(before.getTypeMap())) {
    const now = inOther(name);
    if (now && !after.getType(name) && after.getType(now) && !before.getType(now))
      types.set(name, now);
  }
  const all = new Map(types);
  for (const type of Object.values(before.getTypeMap())) {
    const now = after.getType(types.get(type.name) ?? type.name);
    if (now) for (const pair of renamedMembers(type, now, { members, inOther })) all.set(...pair);
  }
  return all;
}

interface Known {
  readonly members: readonly Said[];
  readonly inOther: (word: string) => string | undefined;
}

function renamedMembers(
  type: GraphQLNamedType,
  now: GraphQLNamedType,
  { members, inOther }: Known,
): [string, string][] {
  const [before, after] = [membersOf(type), membersOf(now)];
  const nameNow = (name: string, names: ReadonlySet<string>, old: ReadonlySet<string>) => {
    if (names.has(name)) return undefined;
    const said = members
      .filter(({ from, type: holder }) => from === name && isMadeOf(now.name, holder))
      .map(({ to }) => to);
    return [...said, inOther(name)].find((each) => each && names.has(each) && !old.has(each));
  };
  const renamed: [string, string][] = [];
  const [old, names] = [new Set(before.keys()), new Set(after.keys())];
  for (const [name, args] of before) {
    const to = nameNow(name, names, old);
    if (to) renamed.push([`${type.name}.${name}`, `${now.name}.${to}`]);
    const argsNow = after.get(to ?? name) ?? new Set();
    for (const argument of args) {
      const other =
        argsNow.has(argument) || argsNow.size === 0
          ? undefined
          : members.find(
              ({ from, to: each }) => from === argument && argsNow.has(each) && !args.has(each),
            )?.to;
      if (other)
        renamed.push([
          `${type.name}.${name}(${argument}:)`,
          `${now.name}.${to ?? name}(${other}:)`,
        ]);
    }
  }
  return renamed;
}

/** Whether a type is `holder` itself, or its name is made of it: `CreatePostInput`. */
const isMadeOf = (name: string, holder: string) => name.includes(holder);

/** Each member with the names of its arguments. */
function membersOf(type: GraphQLNamedType): Map<string, ReadonlySet<string>> {
  if (isEnumType(type)) return new Map(type.getValues().map(({ name }) => [name, new Set()]));
  if (isInputObjectType(type))
    return new Map(Object.keys(type.getFields()).map((name) => [name, new Set()]));
  if (!isObjectType(type) && !isInterfaceType(type)) return new Map();
  return new Map(
    Object.values(type.getFields()).map(({ name, args }) => [
      name,
      new Set(args.map((argument) => argument.name)),
    ]),
  );
}

/** Replaces a type's name within another name: `createUsers` → `createAccounts`. */
function wordsOf(from: string, to: string): (name: string) => string {
  const forms: readonly ((name: string) => string)[] = [
    (name) => pascalCase(pluralize(camelCase(name))),
    (name) => name,
    (name) => pluralize(camelCase(name)),
    camelCase,
  ];
  const pairs = forms.map((form) => [form(from), form(to)] as const);
  return (name) => {
    for (const [old, now] of pairs) {
      const at = name.search(new RegExp(`${/^[a-z]/.test(old) ? '^' : ''}${old}(?![a-z])`));
      if (at >= 0) return `${name.slice(0, at)}${now}${name.slice(at + old.length)}`;
    }
    return name;
  };
}

function saidIn(text: string): Said[] {
  if (!text.includes('@renamed')) return [];
  return parse(text, { noLocation: true }).definitions.flatMap((node) => {
    if (!('name' in node) || !node.name) return [];
    const type = node.name.value;
    const from = renamedFrom(node);
    const members = 'fields' in node ? node.fields : 'values' in node ? node.values : [];
    return [
      ...(from === undefined ? [] : [{ type, from, to: type }]),
      ...((members ?? []) as readonly (ASTNode & { name: { value: string } })[]).flatMap(
        (member) => {
          const old = renamedFrom(member);
          return old === undefined ? [] : [{ type, from: old, to: member.name.value }];
        },
      ),
    ];
  });
}

function renamedFrom(node: ASTNode): string | undefined {
  const directives = 'directives' in node ? (node.directives ?? []) : [];
  const renamed = directives.find(({ name }) => name.value === 'renamed');
  const from = renamed?.arguments?.find(({ name }) => name.value === 'from')?.value;
  return from?.kind === Kind.STRING ? from.value : undefined;
}
