import { failure, type AppError } from '../../errors.ts';
import type { Access } from '../access/access.ts';
import type { EntityModel } from '../model.ts';
import {
  belongings,
  isStated,
  organizationsWith,
  type Belonging,
  type RowCondition,
} from '../access/row-condition.ts';
import { holds, rowMeets, type JudgedRow } from './row-judgement.ts';
import type { Given, Writer, Writing } from './writing.ts';

type OrganizationCondition = Extract<RowCondition, { kind: 'organization' }>;

/** @example missing(author, 'authorId').message // 'authorId: there is no such Author' */
export const missing = ({ entity }: EntityModel, at: string) =>
  failure.invalid(`${at}: there is no such ${entity.name}`, {
    extensions: { reason: 'RELATION', field: at },
  });

/**
 * Fills in the owner of a new row where the input names none: the caller, and the organization of
 * the request.
 *
 * @throws AppError `FORBIDDEN` when another user would own the row; `BAD_USER_INPUT` for another's
 * organization, as for a key that never was, and where the input must say which organization.
 */
export function belong(writer: Writer, entity: EntityModel, given: Given, access: Access): void {
  if (access.kind !== 'rows') return;
  const row = rowOf(entity, given);
  for (const any of access.conditions) {
    const ways = belongings(any);
    ownByCaller(writer, given, ways);
    for (const one of organizationsOf(ways)) takeOrganization(writer, entity, given, { one, any });
    if (isStated([any])) continue;
    const met = ways.some(
      (one) => one.kind === 'within' || holds(writer, row, one) || isNewTenant(writer, one),
    );
    if (!met) throw failure.forbidden();
  }
}

/** The maker of an organization becomes its first member. */
const isNewTenant = ({ rules }: Writer, one: Belonging) =>
  (one.kind === 'organization' || one.kind === 'membership') &&
  one.column === 'id' &&
  rules.caller !== null;

const organizationsOf = (ways: readonly Belonging[]) =>
  ways.filter(
    (one): one is OrganizationCondition => one.kind === 'organization' && one.column !== 'id',
  );

const rowOf = (entity: EntityModel, { values }: Given): JudgedRow => ({
  entity,
  value: (column) => values.get(column),
});

function ownByCaller({ rules }: Writer, { values }: Given, ways: readonly Belonging[]): void {
  const owners = ways.filter(({ kind, column }) => kind === 'caller' && column !== 'id');
  const [first] = owners;
  if (first && owners.every(({ column }) => values.get(column) === undefined))
    values.set(first.column, rules.caller);
}

function takeOrganization(
  writer: Writer,
  entity: EntityModel,
  given: Given,
  { one, any }: { readonly one: OrganizationCondition; readonly any: readonly RowCondition[] },
): void {
  if (given.values.get(one.column) !== undefined) return assertOwn(writer, entity, given, one);
  const [first, second] = organizationsWith(writer.rules.organizations, one.roles);
  if (first && !second) return void given.values.set(one.column, first.id);
  const row = rowOf(entity, given);
  if (second && !any.some((other) => holds(writer, row, other)))
    throw failure.invalid(
      `${nameOf(entity, given, one.column)} is required: the caller belongs to several organizations, and the request names none`,
      { extensions: { field: nameOf(entity, given, one.column) } },
    );
}

/** Refuses the organization of others with the same error as one that does not exist. */
function assertOwn(writer: Writer, entity: EntityModel, given: Given, one: OrganizationCondition) {
  const value = given.values.get(one.column);
  if (value === null || !holds(writer, rowOf(entity, given), { ...one, roles: [] }))
    throw noSuch(writer, entity, given, one.column);
}

function noSuch(
  { model }: Pick<Writer, 'model'>,
  entity: EntityModel,
  given: Given,
  column: string,
): AppError {
  const target = entity.columns.get(column)?.references?.entity;
  const at = nameOf(entity, given, column);
  return target === undefined
    ? failure.invalid(`${at}: there is no such row`, {
        extensions: { reason: 'RELATION', field: at },
      })
    : missing(model.entity(target), at);
}

const nameOf = ({ columns }: EntityModel, { names }: Given, column: string): string =>
  names?.get(column) ??
  columns.get(column)?.field ??
  column.replace(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());

/**
 * Checks the parts of a row that lead to an organization through other rows.
 *
 * @throws AppError `BAD_USER_INPUT`, as for a key that never was.
 */
export async function assertWithin(
  writing: Writing,
  entity: EntityModel,
  given: Given,
  access: Access,
): Promise<void> {
  if (access.kind !== 'rows') return;
  const row = rowOf(entity, given);
  for (const any of access.conditions) {
    if (isStated([any])) continue;
    const [within] = belongings(any).filter(({ kind }) => kind === 'within');
    if (within && !(await rowMeets(writing, row, [any])))
      throw within.column === 'id'
        ? failure.forbidden()
        : noSuch(writing, entity, given, within.column);
  }
}

/**
 * Checks the columns that an update sets: a row may not move to another's organization, nor to
 * none.
 *
 * @throws AppError `BAD_USER_INPUT`, as for a key that never was.
 */
export async function assertStays(
  writing: Writing,
  entity: EntityModel,
  given: Given,
  access: Access,
): Promise<void> {
  if (access.kind !== 'rows') return;
  const row = rowOf(entity, given);
  for (const one of belongings(access.conditions.flat())) {
    if (one.kind === 'caller' || one.kind === 'membership' || !given.values.has(one.column))
      continue;
    if (one.kind === 'organization') assertOwn(writing, entity, given, one);
    else if (!(await rowMeets(writing, row, [[one]])))
      throw noSuch(writing, entity, given, one.column);
  }
}
