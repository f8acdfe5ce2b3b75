import type { Project } from '@twofold/schema';
import type { Random } from '../graphql/random-schema.ts';
import type { RandomQuery } from '../graphql/random-query.ts';

/** A mutation of the schema, with an answer that shows whatever of the row can be shown. */
export function randomWrite(random: Random, project: Project): RandomQuery {
  const operation = random.pick(
    project.operations.filter(
      ({ root, action }) =>
        root === 'mutation' && ['create', 'update', 'remove'].includes(action.kind),
    ),
  );
  const given = operation.args
    .filter(({ type }) => type.required || random.chance(0.5))
    .map(({ name, type }) => `${name}: ${valueOf(random, name, type.name)}`);
  const selection =
    operation.action.kind === 'remove'
      ? ''
      : shown(random, project, 'entity' in operation.action ? operation.action.entity : '');
  return {
    text: `mutation { w: ${operation.name}(${given.join(', ')}) ${selection} }`,
    variables: {},
  };
}

function valueOf(random: Random, name: string, scalar: string): string {
  if (scalar === 'Int') return String(random.below(6));
  if (scalar === 'ID')
    return name !== 'id' && random.chance(0.15) ? 'null' : `"${1 + random.below(9)}"`;
  return JSON.stringify(
    name === 'label' ? random.pick(['ant', 'bee', 'cat']) : `${name} made ${random.below(4)}`,
  );
}

function shown(random: Random, project: Project, name: string, depth = 1): string {
  const entity = project.entities.find((each) => each.name === name);
  const fields = (entity?.fields ?? []).flatMap(({ name: field, source }) => {
    if (source.kind === 'column') return random.chance(0.7) ? [field] : [];
    if (depth > 0 && source.kind === 'one' && random.chance(0.6))
      return [`${field} ${shown(random, project, source.entity, depth - 1)}`];
    return [];
  });
  return `{ id ${fields.join(' ')} }`;
}
