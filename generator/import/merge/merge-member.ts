import { type ConstDirectiveNode, print } from 'graphql';
import { type MemberNode, namedType } from './definitions.ts';

/**
 * The parts of a member that are merged separately: its type, and its directives by name. A
 * repeated directive such as `@auth` is one part.
 */
type Parts = ReadonlyMap<string, string>;

/** The parts that change because the source changed. Null means that the directive is removed. */
export interface MemberMerge {
  readonly changes: ReadonlyMap<string, string | null>;
  /** Whether both sides changed one part in different ways. */
  readonly conflict: boolean;
}

/**
 * Merges one field or value: what only the database changed is taken, what only the user changed
 * stays.
 *
 * @param renamed the names that types have in the user's schema, by those that an import gave
 */
export function mergeMember(
  base: MemberNode,
  next: MemberNode,
  yours: MemberNode,
  renamed: ReadonlyMap<string, string>,
): MemberMerge {
  const [before, after, own] = [
    partsOf(base, renamed),
    partsOf(next, renamed),
    partsOf(yours, new Map()),
  ];
  const moved = [...new Set([...before.keys(), ...after.keys()])].filter(
    (part) => before.get(part) !== after.get(part) && own.get(part) !== after.get(part),
  );
  return {
    changes: new Map(moved.map((part) => [part, after.get(part) ?? null])),
    conflict: moved.some((part) => own.get(part) !== before.get(part)),
  };
}

/** @example partsOf(field, renamed) // Map { 'type' → 'Movie!', 'column' → '@column(name: "x")' } */
export function partsOf(member: MemberNode, renamed: ReadonlyMap<string, string>): Parts {
  const byName = Map.groupBy(
    member.directives ?? [],
    (each: ConstDirectiveNode) => `@${each.name.value}`,
  );
  const directives = [...byName].map(
    ([name, each]) => [name, each.map((one) => print(one)).join(' ')] as const,
  );
  if (member.kind === 'EnumValueDefinition') return new Map(directives);
  const named = namedType(member.type);
  const type = print(member.type).replace(named, renamed.get(named) ?? named);
  const args = (member.arguments ?? []).map((each) => print(each)).join(', ');
  return new Map([['type', type], ['arguments', args], ...directives]);
}

/** Whether a member is still as the import wrote it. */
export function isUntouched(
  base: MemberNode,
  yours: MemberNode,
  renamed: ReadonlyMap<string, string>,
): boolean {
  const [before, own] = [partsOf(base, renamed), partsOf(yours, new Map())];
  return (
    base.name.value === yours.name.value &&
    base.description?.value === yours.description?.value &&
    before.size === own.size &&
    [...before].every(([part, text]) => own.get(part) === text)
  );
}
