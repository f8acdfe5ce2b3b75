import type { Condition, Memberships, TenantPath } from '@twofold/schema';
import type { Membership } from '../../context/request-context.ts';

/**
 * A condition on a row of an entity, as data. Rules become such conditions, and every statement
 * about the entity has them in its SQL.
 */
export type RowCondition =
  | Belonging
  /** A condition that the schema states by `where`, or by a path to the owner. */
  | Condition
  /** The row belongs to the caller in one of these ways, and meets the condition. */
  | {
      readonly kind: 'both';
      readonly who: readonly (Belonging | Condition)[];
      readonly where: Condition;
    };

/** A column of the row, or of a related row, holds a value of the caller. */
export type Belonging =
  /** The column holds the caller's id. */
  | { readonly kind: 'caller'; readonly column: string }
  /**
   * The column holds one of the caller's organizations; with `roles`, one where the caller has such
   * a role.
   */
  | {
      readonly kind: 'organization';
      readonly column: string;
      readonly roles: readonly string[];
    }
  /**
   * The row is an organization to which the caller belongs. That includes one that this statement
   * has just made.
   */
  | ({
      readonly kind: 'membership';
      readonly column: string;
      readonly roles: readonly string[];
    } & Memberships)
  /** The column holds a key from `select` of a row of `table` that meets the condition. */
  | {
      readonly kind: 'within';
      readonly column: string;
      /** The entity of the table; absent for a join table and other tables without one. */
      readonly entity?: string;
      readonly table: string;
      readonly select: string;
      readonly condition: Belonging;
    };

/** One condition of each list must hold. */
export type RowConditions = readonly (readonly RowCondition[])[];

/** What a caller may do with the rows of an entity, or with one field of them. */
export type Access =
  | { readonly kind: 'all' }
  /** Rows that meet the conditions. */
  | { readonly kind: 'rows'; readonly conditions: RowConditions }
  | { readonly kind: 'none'; readonly code: Refusal };

export type Refusal = 'UNAUTHENTICATED' | 'FORBIDDEN';

/**
 * The condition of the rule word TENANT.
 *
 * @param tableOf the table of an entity.
 * @example tenantCondition(tableOf, { through: [], column: 'company_id' }, []) // { kind: 'organization', column: 'company_id', roles: [] }
 */
export function tenantCondition(
  tableOf: (entity: string) => string,
  { through, column, members }: TenantPath,
  roles: readonly string[],
): Belonging {
  const [step, ...rest] = through;
  if (step)
    return {
      kind: 'within',
      column: step.column,
      entity: step.entity,
      table: tableOf(step.entity),
      select: 'id',
      condition: tenantCondition(tableOf, { through: rest, column }, roles),
    };
  if (!members) return { kind: 'organization', column, roles };
  return {
    kind: 'within',
    column,
    table: members.table,
    select: members.user,
    condition: { kind: 'organization', column: members.organization, roles },
  };
}

/** The organizations of a caller that meet the roles of a condition. */
export function organizationsWith(
  memberships: readonly Membership[],
  roles: readonly string[],
): readonly Membership[] {
  return roles.length === 0
    ? memberships
    : memberships.filter(({ role }) => role !== null && roles.includes(role));
}

/**
 * A text that is equal for two callers whose organizations need the same SQL: one is compared with
 * `=`, several with `in`.
 *
 * @example organizationClass([{ id: 1, role: 'Owner' }, { id: 2, role: 'Member' }]) // ' Member Owner'
 */
export function organizationClass(memberships: readonly Membership[] = []): string {
  const roles = memberships.map(({ role }) => role ?? '').sort();
  return [...new Set(roles)]
    .map((role) => ` ${role}${roles.lastIndexOf(role) > roles.indexOf(role) ? '*' : ''}`)
    .join('');
}

/** The conditions by which rows belong to the caller. */
export const belongings = (conditions: readonly RowCondition[]): readonly Belonging[] =>
  conditions.flatMap((one) =>
    one.kind === 'both' ? one.who.filter(isBelonging) : isBelonging(one) ? [one] : [],
  );

const BELONGING = new Set<string>(['caller', 'organization', 'membership', 'within']);

const isBelonging = (one: RowCondition): one is Belonging => BELONGING.has(one.kind);

/**
 * Whether one of the conditions is stated in the schema. Such a condition is checked on the row as
 * it is after a mutation.
 */
export const isStated = (conditions: RowConditions): boolean =>
  conditions.flat().some((one) => !isBelonging(one));

/** The columns of the row itself that the conditions read. */
export const columnsOf = (conditions: RowConditions): readonly string[] => [
  ...new Set(conditions.flat().flatMap(columnsIn)),
];

function columnsIn(one: RowCondition): readonly string[] {
  switch (one.kind) {
    case 'all':
    case 'any':
      return one.of.flatMap(columnsIn);
    case 'not':
      return columnsIn(one.of);
    case 'both':
      return [...one.who, one.where].flatMap(columnsIn);
    case 'related':
    case 'count':
      return [one.link.kind === 'own' ? one.link.column : 'id'];
    default:
      return [one.column];
  }
}

/** Whether conditions read other rows of the same entity. */
export const looksAt = (conditions: RowConditions, entity: string): boolean =>
  conditions.flat().some((one) => leadsTo(one, entity));

function leadsTo(one: RowCondition, entity: string): boolean {
  switch (one.kind) {
    case 'all':
    case 'any':
      return one.of.some((each) => leadsTo(each, entity));
    case 'not':
      return leadsTo(one.of, entity);
    case 'both':
      return [...one.who, one.where].some((each) => leadsTo(each, entity));
    case 'related':
      return one.entity === entity || leadsTo(one.of, entity);
    case 'count':
      return one.entity === entity;
    default:
      return false;
  }
}

/** Whether the row's own values are enough to judge `conditions`. */
export const isDirect = (conditions: RowConditions): boolean =>
  conditions.flat().every(isJudgedByRow);

/** Whether the row's own values are enough to judge the condition, without another table. */
export const isJudgedByRow = ({ kind }: RowCondition): boolean =>
  kind === 'caller' || kind === 'organization';
