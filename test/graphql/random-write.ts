import type { Entity, Project } from '@twofold/schema';
import { randomValue } from './random-data.ts';
import { randomSelection, type RandomQuery } from './random-query.ts';
import type { Random } from './random-schema.ts';

/** Creates, patches and removals by arguments, of every entity; what a row of several types leads to is set by no argument. */
export function writesOf(project: Project): string {
  const fields = project.entities.flatMap((entity) => {
    const args = argumentsOf(entity);
    return [
      `create${entity.name}(${args.map(({ name, type, required }) => `${name}: ${type}${required ? '!' : ''}`).join(', ')}): ${entity.name}!`,
      `update${entity.name}(id: ID!, ${args.map(({ name, type }) => `${name}: ${type}`).join(', ')}): ${entity.name}`,
      `delete${entity.name}(id: ID!): Boolean!`,
    ];
  });
  return `type Mutation { ${fields.join(' ')} }`;
}

interface Argument {
  readonly name: string;
  readonly column: string;
  readonly type: string;
  readonly required: boolean;
}

/** Its columns as arguments: `fInt: Int`, and `beeId: ID` for `bee: Bee`. */
export function argumentsOf({ fields, columns }: Entity): readonly Argument[] {
  return fields.flatMap(({ name, type, source }): Argument[] => {
    if (source.kind === 'column' && name !== 'id')
      return [
        {
          name,
          column: source.column,
          type: type.list ? `[${type.name}!]` : type.name,
          required: type.required,
        },
      ];
    if (source.kind !== 'one' || source.key !== 'own' || source.typeColumn !== undefined) return [];
    return [
      {
        name: `${name}Id`,
        column: source.column,
        type: 'ID',
        required: columns.find((column) => column.name === source.column)?.required ?? false,
      },
    ];
  });
}

/** A mutation of one row, what it sets, and the query that shows the row as its answer does. */
export interface RandomWrite extends RandomQuery {
  readonly kind: 'create' | 'update' | 'delete';
  readonly entity: Entity;
  readonly id: string;
  readonly given: Readonly<Record<string, unknown>>;
  shownBy(id: string): string;
}

/** One mutation, with its arguments in variables, and whatever can be selected of what it answers with. */
export function randomWrite(random: Random, project: Project): RandomWrite {
  const entity = random.pick(project.entities);
  const kind = random.pick(['create', 'create', 'update', 'update', 'delete'] as const);
  const id = String(1 + random.below(9));
  const chosen =
    kind === 'delete'
      ? []
      : argumentsOf(entity).filter(
          ({ required }) => (kind === 'create' && required) || random.chance(0.6),
        );
  const given = Object.fromEntries(
    chosen.map((argument) => [argument.name, valueOf(random, argument)]),
  );
  const args = [
    ...(kind === 'create' ? [] : [`id: "${id}"`]),
    ...chosen.map(({ name }) => `${name}: $${name}`),
  ];
  const called = `${kind}${entity.name}${args.length > 0 ? `(${args.join(', ')})` : ''}`;
  if (kind === 'delete')
    return {
      kind,
      entity,
      id,
      given,
      text: `mutation { w: ${called} }`,
      variables: {},
      shownBy: () => '',
    };
  const { declared, selection, fragments, variables } = randomSelection(
    random,
    project,
    entity.name,
  );
  const head = (more: readonly string[]) =>
    declared.length + more.length > 0 ? `(${[...declared, ...more].join(', ')})` : '';
  const set = chosen.map(
    ({ name, type, required }) => `$${name}: ${type}${kind === 'create' && required ? '!' : ''}`,
  );
  const shownBy = (of: string) =>
    `query ${head([])} { w: ${entity.name.toLowerCase()}(id: "${of}") ${selection} } ${fragments}`;
  return {
    kind,
    entity,
    id,
    given,
    text: `mutation ${head(set)} { w: ${called} ${selection} } ${fragments}`,
    variables: { ...variables, ...given },
    shownBy,
  };
}

function valueOf(random: Random, { type, required }: Argument): unknown {
  if (!required && random.chance(0.2)) return null;
  return type.startsWith('[')
    ? ['ant', 'bee'].slice(random.below(2))
    : type === 'ID'
      ? String(1 + random.below(4))
      : randomValue(random, type);
}
