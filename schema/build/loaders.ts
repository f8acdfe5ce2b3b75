import type { Entity, Field, Loader } from '../model.ts';
import { camelCase, pascalCase, pluralize } from '../names.ts';

/**
 * Every way in which rows are fetched in batches: by key, by a unique column, over a foreign key,
 * over a join table.
 *
 * @example
 * buildLoaders(entities).map((loader) => loader.name) // ['user', 'userByEmail', 'post', 'postsByAuthor']
 */
export function buildLoaders(entities: readonly Entity[]): Loader[] {
  const byName = new Map(entities.map((entity) => [entity.name, entity]));
  const loaders = new Map<string, Loader>();
  for (const entity of entities) {
    const joins = new Map<string, Loader>();
    for (const field of entity.fields) {
      const loader = joinLoader(entity, field, byName);
      const rows = JSON.stringify([loader?.entity, loader?.via]);
      // Several lists may show the rows of one relation.
      if (loader && !joins.has(rows)) joins.set(rows, loader);
    }
    for (const loader of [...ownLoaders(entity), ...joins.values()]) {
      const name = loaders.has(loader.name)
        ? `${loader.name}Via${pascalCase(loader.via?.table ?? loader.by)}`
        : loader.name;
      loaders.set(name, { ...loader, name });
    }
  }
  return [...loaders.values()];
}

function ownLoaders(entity: Entity): Loader[] {
  const keyed = { name: entity.singular, entity: entity.name, by: 'id', many: false };
  const found = entity.columns.flatMap((column): Loader[] => {
    if (column.references) {
      const stem = pascalCase(column.name.replace(/_id$/, ''));
      return [
        {
          name: `${column.unique ? entity.singular : pluralOf(entity)}By${stem}`,
          entity: entity.name,
          by: column.name,
          many: !column.unique,
        },
      ];
    }
    const plain = column.unique && column.name !== 'id' && column.type !== 'json';
    return plain
      ? [
          {
            name: `${entity.singular}By${pascalCase(column.name)}`,
            entity: entity.name,
            by: column.name,
            many: false,
          },
        ]
      : [];
  });
  return [keyed, ...found];
}

function joinLoader(
  entity: Entity,
  field: Field,
  byName: ReadonlyMap<string, Entity>,
): Loader | undefined {
  if (
    field.source.kind !== 'many' ||
    field.source.via.kind !== 'table' ||
    !byName.has(field.source.entity)
  )
    return undefined;
  const { table, schema, own, other } = field.source.via;
  return {
    name: `${camelCase(field.name)}By${entity.name}`,
    entity: field.source.entity,
    by: typeof own === 'string' ? own : own.join('_'),
    many: true,
    via: { table, ...(schema !== undefined && { schema }), own, other },
  };
}

/** A plural that equals the singular would give two loaders the same name. */
function pluralOf(entity: Entity): string {
  return camelCase(entity.plural) === entity.singular
    ? pluralize(`${entity.singular}Row`)
    : camelCase(entity.plural);
}
