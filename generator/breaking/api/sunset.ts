import { sunsetOf } from '@twofold/schema';
import {
  getNamedType,
  type GraphQLNamedType,
  type GraphQLSchema,
  isEnumType,
  isInputObjectType,
  isInterfaceType,
  isIntrospectionType,
  isObjectType,
  isUnionType,
} from 'graphql';
import type { Level } from '../change.ts';
import type { SchemaChange } from './schema-changes.ts';

export const DEPRECATE_FIRST =
  'deprecate it first, with the day of the removal: @deprecated(reason: "Removal on 2027-03-01.")';

interface Given {
  readonly base: GraphQLSchema;
  readonly gone: readonly SchemaChange[];
  readonly today: string;
}

/**
 * The level of a change under the sunset of what it removes: after the day that the base announced,
 * a removal is dangerous unless a document still uses it. A type goes with the members that led to
 * it.
 */
export function createSunset({
  base,
  gone,
  today,
}: Given): (change: SchemaChange, used: boolean) => Level {
  const removed = new Set(
    gone.filter(({ code }) => /_REMOVED/.test(code)).map((each) => each.coordinate),
  );
  const isOver = (coordinate: string) => {
    const reason = deprecationOf(base, coordinate);
    const day = reason ? sunsetOf(reason) : null;
    return day !== null && day <= today;
  };
  let leftTypes: ReadonlySet<string> | undefined;
  return ({ code, level, coordinate }, used) => {
    if (level !== 'breaking' || used || !removed.has(coordinate)) return level;
    leftTypes ??= code === 'TYPE_REMOVED' ? typesThatGo(base, removed, isOver) : undefined;
    const announced = code === 'TYPE_REMOVED' ? leftTypes!.has(coordinate) : isOver(coordinate);
    return announced ? 'dangerous' : level;
  };
}

/** The removed types that only members whose day is over led to, and types that go as well. */
function typesThatGo(
  base: GraphQLSchema,
  removed: ReadonlySet<string>,
  isOver: (coordinate: string) => boolean,
): ReadonlySet<string> {
  const ways = Object.values(base.getTypeMap())
    .filter((type) => !isIntrospectionType(type))
    .flatMap(waysFrom);
  const going = new Set([...removed].filter((name) => base.getType(name)));
  for (let before = -1; before !== going.size;) {
    before = going.size;
    for (const name of going) {
      const stays = ways.some(
        ({ to, owner, coordinate }) =>
          to === name && !going.has(owner) && !(removed.has(coordinate) && isOver(coordinate)),
      );
      const isReached = ways.some(({ to }) => to === name);
      if (stays || !isReached) going.delete(name);
    }
  }
  return going;
}

interface Way {
  readonly owner: string;
  readonly coordinate: string;
  readonly to: string;
}

function waysFrom(type: GraphQLNamedType): Way[] {
  const owner = type.name;
  const way = (coordinate: string, to: string): Way => ({ owner, coordinate, to });
  if (isUnionType(type)) return type.getTypes().map(({ name }) => way(owner, name));
  if (isInputObjectType(type))
    return Object.values(type.getFields()).map((field) =>
      way(`${owner}.${field.name}`, getNamedType(field.type).name),
    );
  if (!isObjectType(type) && !isInterfaceType(type)) return [];
  return Object.values(type.getFields()).flatMap((field) => [
    way(`${owner}.${field.name}`, getNamedType(field.type).name),
    ...field.args.map((argument) =>
      way(`${owner}.${field.name}(${argument.name}:)`, getNamedType(argument.type).name),
    ),
  ]);
}

/**
 * The reason at `Post.body`, `Query.posts(limit:)` or `Mood.CALM`; an argument goes with its field.
 */
export function deprecationOf(schema: GraphQLSchema, coordinate: string): string | null {
  const [, owner = '', member = '', argument] =
    /^(\w+)\.(\w+)(?:\((\w+):\))?$/.exec(coordinate) ?? [];
  const type = schema.getType(owner);
  if (isEnumType(type)) return type.getValue(member)?.deprecationReason ?? null;
  if (isInputObjectType(type)) return type.getFields()[member]?.deprecationReason ?? null;
  if (!isObjectType(type) && !isInterfaceType(type)) return null;
  const field = type.getFields()[member];
  const given = argument && field?.args.find(({ name }) => name === argument)?.deprecationReason;
  return (argument ? given : field?.deprecationReason) || null;
}
