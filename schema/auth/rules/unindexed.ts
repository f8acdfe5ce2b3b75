import { first } from '../../present.ts';
import type { Built } from '../../build/built.ts';
import { ownerOf } from '../../build/access.ts';
import { readCondition } from '../../build/conditions.ts';
import type { EntityFact } from '../../build/facts.ts';
import type { AuthUse } from '../../directives/of-both.ts';
import type { Comparison, Condition, Entity, RelatedLink } from '../../model.ts';
import type { Finding } from '../../parse/places.ts';
import { finding, quoted, type Rule } from '../../rules/finding.ts';

/** A comparison for which the database has to look at every row of a table. */
interface Unindexed {
  readonly entity: string;
  readonly column: string;
}

/** AUTH_UNINDEXED, a hint: a condition compares a column that no index begins with. */
export const unindexed: Rule = function* (built) {
  for (const entity of built.facts.entities.values()) {
    const uses = [
      ...entity.directives.auth,
      ...[...entity.fields.values()].flatMap(({ directives }) => directives.auth),
    ];
    const told = new Set<string>();
    for (const use of uses)
      for (const condition of conditionsOf(built, use, entity))
        for (const { entity: of, column } of scans(built, entity.name, condition)) {
          const key = `${of} ${column}`;
          if (!told.has(key)) yield* hint(built, { use, entity }, { entity: of, column });
          told.add(key);
        }
  }
};

function conditionsOf({ shapes }: Built, use: AuthUse, entity: EntityFact): Condition[] {
  const owner =
    use.allow.includes('OWNER') && use.owner !== undefined
      ? ownerOf(shapes, use, entity)
      : undefined;
  return [
    ...(owner?.kind === 'path' ? [owner.condition] : []),
    ...(use.where ? [readCondition(shapes, entity, use.where).condition] : []),
  ];
}

const entityOf = ({ project }: Built, name: string): Entity | undefined =>
  project.entities.find((entity) => entity.name === name);

function isIndexed(built: Built, entity: string, column: string): boolean {
  const found = entityOf(built, entity);
  return (
    column === 'id' ||
    found?.indexes.some(({ columns }) => columns[0] === column) === true ||
    found?.columns.some(({ name, unique }) => name === column && unique) === true
  );
}

/**
 * The columns of `entity` that a condition compares without an index. If several comparisons must
 * all hold, one with an index is enough.
 */
function scans(built: Built, entity: string, condition: Condition): Unindexed[] {
  switch (condition.kind) {
    case 'compare':
      return !isPlain(condition) || isIndexed(built, entity, condition.column)
        ? []
        : [{ entity, column: condition.column }];
    case 'all': {
      const each = condition.of
        .filter(({ kind }) => kind !== 'not')
        .map((of) => scans(built, entity, of));
      return each.some((found) => found.length === 0) ? [] : each.flat().slice(0, 1);
    }
    case 'any':
      return condition.of.flatMap((of) => scans(built, entity, of));
    // Rows that do not match can only be found by reading all of them.
    case 'not':
      return [];
    case 'count':
      return linked(built, condition.entity, condition.link);
    case 'related':
      return [
        ...linked(built, condition.entity, condition.link),
        ...(condition.quantifier === 'every' ? [] : scans(built, condition.entity, condition.of)),
      ];
  }
}

/** Whether the value of the column itself is compared, so that an index on the column helps. */
const isPlain = ({ insensitive, path, member, item, operator }: Comparison): boolean =>
  !insensitive && !path && !member && item === undefined && !/^is|With$|^contains$/.test(operator);

/** The key by which related rows are found. */
const linked = (built: Built, entity: string, link: RelatedLink): Unindexed[] =>
  link.kind === 'other' && !isIndexed(built, entity, link.column)
    ? [{ entity, column: link.column }]
    : [];

/** The finding stands where its fix belongs, which may be another type than that of the rule. */
function* hint(
  built: Built,
  { use, entity: ruled }: { readonly use: AuthUse; readonly entity: EntityFact },
  { entity, column }: Unindexed,
): Generator<Finding> {
  const fact = built.facts.entities.get(entity);
  const field = entityOf(built, entity)?.fields.find(
    ({ source }) => (source.kind === 'column' || source.kind === 'one') && source.column === column,
  );
  if (!fact || !field) return;
  yield finding(
    'AUTH_UNINDEXED',
    fact === ruled ? (use.where ?? use.node) : first(fact.definitions),
    {
      summary: `A condition${fact === ruled ? '' : ` of ${ruled.name}`} compares ${entity}.${field.name}, which no index begins with`,
      why: 'the database looks at every row of the table',
      changes: [
        {
          kind: 'directive',
          on: first(fact.definitions),
          name: 'index',
          args: { fields: `[${quoted(field.name)}]` },
          repeated: true,
        },
      ],
      severity: 'hint',
    },
  );
}
