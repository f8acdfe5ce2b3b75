import type { AuthRule, Comparison, Condition, FilterOperator, IdKind } from '@twofold/schema';
import type { Principal } from '../../context/request-context.ts';
import type { Model } from '../model.ts';
import { stored } from '../sql/stored-as.ts';
import { toStored, type Stored } from '../sql/values.ts';

/** What `extend` returned when the caller's token was issued; null for callers without a token. */
export type Claims = Readonly<Record<string, unknown>> | null;

export const claimsOf = (principal: Principal): Claims =>
  principal.kind === 'user' ? principal.extend : null;

/** @example claimOf({ company: { id: 7 } }, 'company.id') // 7 */
export function claimOf(claims: Claims, path: string): unknown {
  let value: unknown = claims;
  for (const step of path.split('.')) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, step)) return null;
    value = (value as Readonly<Record<string, unknown>>)[step];
  }
  return value ?? null;
}

/** A comparison with a claim, in a condition. */
interface ClaimUse {
  readonly claim: string;
  readonly operator: FilterOperator;
  readonly as: Stored;
}

/**
 * Whether a caller has everything that a condition compares rows with. Otherwise the whole
 * condition is false, also below a `not`: a missing value must not open rows.
 */
export function isAnswerable(
  model: Model,
  { entity, condition }: Stated,
  { caller, claims }: { readonly caller: number | string | null; readonly claims: Claims },
): boolean {
  const uses = usesOf(model, entity, condition);
  return (
    (caller !== null || !uses.caller) &&
    uses.claims.every((use) => isComparable(claimOf(claims, use.claim), use, model.ids))
  );
}

/** A condition about rows of an entity. */
export interface Stated {
  readonly entity: string;
  readonly condition: Condition;
}

/** Whether a condition compares rows with values of the caller, such as their id. */
export const usesCaller = (model: Model, { entity, condition }: Stated): boolean =>
  usesOf(model, entity, condition).caller;

interface Uses {
  readonly caller: boolean;
  readonly claims: readonly ClaimUse[];
}

const KNOWN = new WeakMap<Condition, Uses>();

function usesOf(model: Model, entity: string, condition: Condition): Uses {
  const known = KNOWN.get(condition);
  if (known) return known;
  const uses = readUses(model, entity, condition);
  KNOWN.set(condition, uses);
  return uses;
}

const joined = (uses: readonly Uses[]): Uses => ({
  caller: uses.some(({ caller }) => caller),
  claims: uses.flatMap(({ claims }) => claims),
});

function readUses(model: Model, entity: string, condition: Condition): Uses {
  switch (condition.kind) {
    case 'all':
    case 'any':
      return joined(condition.of.map((of) => readUses(model, entity, of)));
    case 'not':
      return readUses(model, entity, condition.of);
    case 'related':
      return readUses(model, condition.entity, condition.of);
    case 'count':
      return joined([]);
    case 'compare': {
      const { operator } = condition;
      const as = comparedAs(model, entity, condition);
      const claims = 'claim' in condition ? [{ claim: condition.claim, operator, as }] : [];
      return { caller: 'caller' in condition, claims };
    }
  }
}

/** The type of the value that a condition compares: of a column, or of a member of an object. */
function comparedAs(model: Model, entity: string, { column, member, item }: Comparison): Stored {
  const type = item ?? member?.type;
  return type === undefined ? stored(model, model.entity(entity), column) : { type };
}

const OF_LISTS = new Set<FilterOperator>(['eq', 'ne', 'in', 'notIn', 'has', 'hasSome', 'hasEvery']);

/** Whether the value of a claim can be compared with the column. */
function isComparable(value: unknown, { operator, as }: ClaimUse, ids: IdKind): boolean {
  if (!Array.isArray(value)) return isOfType(value, as, ids);
  return OF_LISTS.has(operator) && value.every((item) => isOfType(item, as, ids));
}

function isOfType(value: unknown, as: Stored, ids: IdKind): boolean {
  switch (as.type) {
    case 'id':
    case 'uuid':
      return isScalar(value) && toStored(value, as, ids, 'sqlite') !== null;
    case 'integer':
      return Number.isInteger(value);
    case 'real':
      return typeof value === 'number';
    case 'bigint':
    case 'decimal':
      return isScalar(value) && /^-?\d+(?:\.\d+)?$/.test(String(value));
    case 'boolean':
      return typeof value === 'boolean';
    case 'timestamp':
      return typeof value === 'string' && !Number.isNaN(Date.parse(value));
    case 'json':
      return isScalar(value) || typeof value === 'boolean';
    case 'bytes':
      return false;
    default:
      return typeof value === 'string';
  }
}

const isScalar = (value: unknown) => typeof value === 'string' || typeof value === 'number';

/** The value of a claim as the column holds it. */
export function claimValue(claims: Claims, claim: string, as: Stored): unknown {
  const value = claimOf(claims, claim);
  const one = (item: unknown) =>
    as.type === 'timestamp' ? new Date(String(item)).toISOString() : item;
  return Array.isArray(value) ? value.map(one) : one(value);
}

const STATED = new WeakMap<Model, readonly Stated[]>();

/** The conditions of a project that compare rows with claims. */
function conditionsWithClaims(model: Model): readonly Stated[] {
  const known = STATED.get(model);
  if (known) return known;
  const { entities, operations } = model.project;
  const of = (entity: string, rules: readonly AuthRule[]): Stated[] =>
    rules.flatMap(({ where }) => (where ? [{ entity, condition: where }] : []));
  const lists = (entity: string, condition: Condition | undefined): Stated[] =>
    condition ? [{ entity, condition }] : [];
  const all = [
    ...entities.flatMap(({ fields }) =>
      fields.flatMap(({ source }) => {
        if (source.kind === 'many') return lists(source.entity, source.list.condition);
        return source.kind === 'tally' ? lists(source.entity, source.where) : [];
      }),
    ),
    ...operations.flatMap(({ action }) =>
      action.kind === 'list' ? lists(action.entity, action.list.condition) : [],
    ),
    ...entities.flatMap(({ name, rules, fields }) => [
      ...of(name, rules),
      ...fields.flatMap((field) => of(name, field.rules)),
    ]),
    ...operations.flatMap(({ action, rules }) =>
      'entity' in action ? of(action.entity, rules) : [],
    ),
  ].filter(({ entity, condition }) => usesOf(model, entity, condition).claims.length > 0);
  STATED.set(model, all);
  return all;
}

/**
 * A text that is equal for two callers whose claims need the same SQL: a missing claim closes a
 * condition, and a list is compared with `in`.
 */
export function claimClass(model: Model, principal: Principal): string {
  const all = conditionsWithClaims(model);
  if (all.length === 0) return '';
  const claims = claimsOf(principal);
  const kinds = all.map(({ entity, condition }) =>
    usesOf(model, entity, condition)
      .claims.map(({ claim, operator, as }) => {
        const value = claimOf(claims, claim);
        if (!isComparable(value, { claim, operator, as }, model.ids)) return '-';
        return Array.isArray(value) ? '*' : '+';
      })
      .join(''),
  );
  return ` claims ${kinds.join()}`;
}
