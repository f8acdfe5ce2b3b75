import type {
  Allow,
  AuthRule,
  Comparison,
  Condition,
  Entity,
  FilterOperator,
  Project,
  RelatedLink,
} from '@twofold/schema';

const WHO: Readonly<Record<Allow, string>> = {
  PUBLIC: 'anyone',
  USER: 'a signed-in user',
  OWNER: 'the owner',
  ROLE: 'a user with the role',
  TENANT: 'a member of its organization',
  API_KEY: 'an API key',
};

/**
 * One `@auth` in words.
 *
 * @example ruleSentence(project, note, rule) // 'READ, DELETE: the owner, its author is CALLER'
 */
export function ruleSentence(project: Project, entity: Entity, rule: AuthRule): string {
  const { allow, roles, on, owner, ownedBy, where } = rule;
  const verbs = on.length === 4 || on.length === 0 ? 'everything' : on.join(', ');
  const who = allow.map((word) => {
    if (word === 'ROLE' || (word === 'TENANT' && roles.length > 0))
      return `${WHO[word]}${word === 'ROLE' ? '' : ' with the role'} ${roles.join(' or ')}`;
    if (word !== 'OWNER') return WHO[word];
    const path = ownedBy ? said(project, entity, ownedBy) : `${nameOf(entity, owner)} is CALLER`;
    return `${WHO.OWNER} (${path})`;
  });
  const rows = where ? `, where ${said(project, entity, where)}` : '';
  return `${verbs}: ${who.join(' or ')}${rows}`;
}

/** The field that shows a column. */
function nameOf({ fields }: Entity, column: string | undefined): string {
  const field = fields.find(
    ({ source }) => (source.kind === 'column' || source.kind === 'one') && source.column === column,
  );
  return field?.name ?? column ?? 'id';
}

const entityOf = ({ entities }: Project, name: string): Entity =>
  entities.find((entity) => entity.name === name)!;

/** A condition in words. */
function said(project: Project, entity: Entity, condition: Condition): string {
  const inner = (of: Condition) => said(project, entity, of);
  switch (condition.kind) {
    case 'all':
      return condition.of.length === 0 ? 'any' : condition.of.map(inner).join(' and ');
    case 'any':
      return condition.of.length === 0 ? 'never' : `(${condition.of.map(inner).join(' or ')})`;
    case 'not':
      return `not (${inner(condition.of)})`;
    case 'compare':
      return comparison(entity, condition);
    case 'count':
      return `the number of ${relation(entity, condition)} ${word(condition.operator)} ${text(condition.value)}`;
    case 'related': {
      const other = entityOf(project, condition.entity);
      const of = said(project, other, condition.of);
      const name = relation(entity, condition);
      if (condition.link.kind === 'own')
        return of === 'any' ? `${name} is there` : `${name} (${of})`;
      return of === 'any'
        ? `${condition.quantifier} ${name}`
        : `${condition.quantifier} of ${name} (${of})`;
    }
  }
}

/** The name of the field whose relation a condition follows. */
function relation(
  { fields }: Entity,
  { entity, link }: { readonly entity: string; readonly link: RelatedLink },
): string {
  const field = fields.find(({ source }) => {
    if (source.kind === 'one')
      return (
        source.entity === entity &&
        link.kind !== 'join' &&
        source.column === link.column &&
        (source.key === 'own') === (link.kind === 'own')
      );
    if (source.kind !== 'many' || source.entity !== entity) return false;
    const { via } = source;
    return via.kind === 'table'
      ? link.kind === 'join' && via.table === link.table
      : link.kind === 'other' && via.column === link.column;
  });
  return field?.name ?? entity;
}

function comparison(entity: Entity, condition: Comparison): string {
  const { column, operator, member, path, insensitive } = condition;
  const steps = [nameOf(entity, column), ...(member?.keys ?? []), ...(path ?? [])];
  const left = steps.join('.');
  if ('value' in condition && (operator === 'isNull' || operator === 'isEmpty')) {
    const what = operator === 'isNull' ? 'without a value' : 'empty';
    return `${left} is ${condition.value === true ? '' : 'not '}${what}`;
  }
  return `${left} ${word(operator)} ${operand(condition)}${insensitive ? ' in any case' : ''}`;
}

const WORDS: Partial<Record<FilterOperator, string>> = {
  eq: 'is',
  ne: 'is not',
  in: 'is one of',
  notIn: 'is none of',
  lt: '<',
  lte: '≤',
  gt: '>',
  gte: '≥',
  startsWith: 'starts with',
  endsWith: 'ends with',
  hasSome: 'has some of',
  hasEvery: 'has all of',
};

const word = (operator: FilterOperator): string => WORDS[operator] ?? operator;

function operand(condition: Comparison): string {
  if ('caller' in condition) return 'CALLER';
  return 'claim' in condition ? `claim ${condition.claim}` : text(condition.value);
}

const text = (value: unknown): string => JSON.stringify(value);
