import { type Kind, parse } from 'graphql';

/** What a rename does to the names of the served schema, by their coordinate before it. */
export type RenamedNames = ReadonlyMap<string, string>;

/**
 * Compares the served schema before and after a rename: `Post` → `Article`, `Mutation.createPost` →
 * `createArticle`, `Query.posts.status` → `phase`. Definitions that `api.crud` writes change with it.
 *
 * @example renamedNames('type A { x: Int }', 'type A { y: Int }') // Map { 'A.x' => 'y' }
 */
export function renamedNames(before: string, after: string): RenamedNames {
  const names = new Map<string, string>();
  pairMembers(typesIn(before), typesIn(after), '', names);
  return names;
}

/** A type, a field, a value or an argument. */
interface Member {
  readonly kind: Kind;
  readonly name: { readonly value: string };
  readonly fields?: readonly Member[] | undefined;
  readonly values?: readonly Member[] | undefined;
  readonly arguments?: readonly Member[] | undefined;
}

/** `type Order` and each `extend type Order` are one type: `api.crud` extends what users write. */
function typesIn(sdl: string): Member[] {
  const types = new Map<string, Member>();
  for (const node of parse(sdl).definitions as readonly Partial<Member>[]) {
    const { kind, name, fields = [], values = [] } = node;
    if (!kind || !name) continue;
    const first = types.get(name.value);
    types.set(name.value, {
      kind: first?.kind ?? kind,
      name,
      fields: [...(first?.fields ?? []), ...fields],
      values: [...(first?.values ?? []), ...values],
    });
  }
  return [...types.values()];
}

/** What has gone and what is new belong together in the order in which they stand. */
function pairMembers(
  before: readonly Member[],
  after: readonly Member[],
  holder: string,
  names: Map<string, string>,
): void {
  const kept = new Map(after.map((node) => [node.name.value, node]));
  const old = new Set(before.map(({ name }) => name.value));
  const added = after.filter(({ name }) => !old.has(name.value));
  for (const node of before) {
    const name = node.name.value;
    const coordinate = holder === '' ? name : `${holder}.${name}`;
    const twin = kept.get(name) ?? added.find(({ kind }) => kind === node.kind);
    if (!twin) continue;
    if (twin.name.value !== name) {
      names.set(coordinate, twin.name.value);
      added.splice(added.indexOf(twin), 1);
    }
    pairMembers(membersOf(node), membersOf(twin), coordinate, names);
  }
}

const membersOf = ({ fields = [], values = [], arguments: args = [] }: Member): Member[] => [
  ...fields,
  ...values,
  ...args,
];
