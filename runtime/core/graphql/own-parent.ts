import type { GraphQLResolveInfo } from 'graphql';
import { ROW_KEY, TYPE_KEY } from '../data/sql/scope.ts';
import type { Engine } from './engine.ts';
import { fromTree, type Parent, readRow } from './parent-fields.ts';
import { ownName } from './plan/own-parent.ts';

/**
 * The parent of a function of the project for a member of a payload, a connection or an edge: its
 * other members under their names in the schema, with whole rows.
 */
export function ownParent(engine: Engine, parent: any, info: GraphQLResolveInfo): any {
  if (typeof parent !== 'object' || parent === null || !(TYPE_KEY in parent)) return parent;
  return memberOf(engine, parent, info);
}

function memberOf(engine: Engine, given: unknown, info: GraphQLResolveInfo): unknown {
  const value = fromTree(engine, given);
  if (Array.isArray(value)) return value.map((item) => memberOf(engine, item, info));
  if (typeof value !== 'object' || value === null || !(TYPE_KEY in value)) return value;
  const { [TYPE_KEY]: type, [ROW_KEY]: row, ...members } = value as Parent;
  if (row !== undefined) return readRow(engine.model.entity(String(type)), row, info);
  const own = Object.entries(members).flatMap(([key, member]) => {
    const name = ownName(key);
    return name === undefined ? [] : [[name, memberOf(engine, member, info)] as const];
  });
  return own.length > 0 ? Object.fromEntries(own) : members;
}
