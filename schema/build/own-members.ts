import { connectionOf } from './connections.ts';
import { fieldFacts, isQueryRoot, type Facts, type FieldFact } from './facts.ts';
import type { Built } from './built.ts';

/**
 * Members of served connections, edges and payloads that cannot be inferred: the user writes a
 * function for each.
 *
 * @example
 * ownMembers(built).map(coordinate) // ['IssuePayload.lastSyncId']
 */
export function ownMembers({ facts, operations, entities }: Built): FieldFact[] {
  const found = new Map<string, FieldFact>();
  const add = (type: string, name: string) => {
    const field = memberOf(facts, type, name);
    if (field && !field.directives.computed && !isQueryRoot(facts, field))
      found.set(`${type}.${name}`, field);
  };
  const addConnection = (type: string) => {
    for (const extra of connectionOf(type, facts)?.extra ?? []) add(extra.type.name, extra.name);
  };
  for (const { operation } of operations) {
    const { action } = operation;
    if ('list' in action && action.list.connection) addConnection(action.list.connection.type);
    if (!('returns' in action) || action.returns.kind !== 'payload') continue;
    const { type, entity, id, ok, rows, count, clientMutationId, empty = [] } = action.returns;
    const known = [entity, id, ok, rows, count, clientMutationId, ...empty];
    for (const name of Object.keys(facts.types.get(type)?.type.getFields() ?? {}))
      if (!known.includes(name)) add(type, name);
  }
  for (const { entity } of entities)
    for (const { source } of entity.fields)
      if (source.kind === 'many' && source.list.connection)
        addConnection(source.list.connection.type);
  return [...found.values()];
}

function memberOf(facts: Facts, type: string, name: string): FieldFact | undefined {
  const classified = facts.types.get(type);
  return classified && fieldFacts(classified.type, facts.types).get(name);
}
